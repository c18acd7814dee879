"""Demands that a rule can check, one kind per file: an instruction in, constraints out."""
