"""Numbers only: battles in, standings out. No I/O, no host, no command line."""
