"""Tournaments as tasks of Inspect: their rounds, their samples, and requests for answers."""
