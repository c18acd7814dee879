"""What is shown: one model of it, views of the nouns, and a writer per format."""
