"""Standard errors, intervals, tests of differences, and rank sets."""
