"""From presentations to pairs: four relations, one expression, any engine."""
