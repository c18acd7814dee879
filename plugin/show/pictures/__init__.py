"""Charts of results, made by altair. altair is imported when the first chart is drawn."""
