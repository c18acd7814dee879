"""The only rooms that import a host."""
