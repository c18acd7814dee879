"""Responses to be judged: files of any known shape in, one neutral collection out."""
