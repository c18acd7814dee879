"""The cost and the precision of a tournament before it is played."""
