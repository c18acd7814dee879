"""Recorded round robins as a laboratory: what other designs would have found. Nothing here calls a judge."""
