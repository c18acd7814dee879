"""What is plugged in: what podium brings itself, what other packages add, and the options that
each takes."""
