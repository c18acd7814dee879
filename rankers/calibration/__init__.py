"""From a judge's scores to what humans prefer: signals, leave-one-out, conformal bounds. Numbers
only."""
