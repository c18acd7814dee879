"""What a tournament costs and what it can tell, before it is played."""
