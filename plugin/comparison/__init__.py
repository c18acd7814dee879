"""Compare two models: their difference with its error, and requirements on it for CI."""
