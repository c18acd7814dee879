"""From judgments to pairs: four relations, one expression, any engine."""
