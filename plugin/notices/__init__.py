"""Warnings as records, the catalogue of their texts, and the forms in which options are typed."""
