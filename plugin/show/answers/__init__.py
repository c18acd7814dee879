"""What was found, in at most three sentences: who leads, may it be trusted, what next. Figures in,
sentences out."""
