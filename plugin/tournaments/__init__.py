"""Which battles next: pure functions of what was played. No I/O, no host, no judge."""
