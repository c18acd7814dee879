"""What a row is, and how it is read and counted: battles, formats of files, reading, counting."""
