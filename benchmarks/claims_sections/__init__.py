"""Sections of `benchmarks/claims.py`, one module each, with the worlds they are drawn from."""
