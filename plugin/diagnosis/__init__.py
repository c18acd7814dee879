"""Diagnose judges: biases, agreement with humans and with themselves, and transitivity."""
