"""From a judge's scores to what people prefer: signals, leave-one-out, conformal bounds. Numbers only."""
