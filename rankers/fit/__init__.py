"""From battles to strengths: the relations of the data and the solver."""
