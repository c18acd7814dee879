"""Warnings as records, the catalogue of their texts, and how the options in them are typed."""
