"""Pictures of what was found, as altair charts; altair is imported when one is asked for."""
