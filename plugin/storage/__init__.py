"""Where files are, here or in an object store, and how they are written: whole."""
