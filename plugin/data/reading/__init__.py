"""Read recorded judgments from files of any known format as battles."""
