"""Ratings and win rates as they would be if all responses were equally long."""
