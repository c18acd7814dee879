"""Recorded judgements: files of any known format in, battles out."""
