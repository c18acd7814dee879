"""Numbers that decide results wherever nothing else is said: written once, and without numpy."""

REGULARIZATION = 0.01
"""lambda of log-strengths, in sum log-likelihood - (lambda / 2) |theta|^2: Soft-Elo's value and its authors' form.

Weak enough to move a rating by less than a hundredth of its error on a hundred battles, and strong enough that an
model that never lost has a finite rating."""
LEVEL = 0.95
"""Of intervals and rank sets: the customary one."""
RESAMPLES = 1000
"""Of a bootstrap: ends of a 95% percentile interval then rest on 25 resamples each."""
RANKER_OF_CLAIMS = "bradley-terry"
"""What a tournament that stops by itself claims is about the ratings of this ranker."""
