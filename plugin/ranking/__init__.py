"""Rank battles by every ranker on every slice, and add the answer in words."""
