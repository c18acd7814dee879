"""Recorded judgments: files of any known format in, battles out."""
