"""Asking judges by Inspect: calls, settings, costs, scorers."""
