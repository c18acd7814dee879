"""The command line: parsing only, one file per command."""
