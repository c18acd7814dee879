"""Inspect's logs: what they contain, as battles, scores and responses, and the ranking in them."""
