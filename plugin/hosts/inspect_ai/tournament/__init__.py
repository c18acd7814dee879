"""Tournaments as tasks of Inspect: rounds, samples, answers that are asked for."""
