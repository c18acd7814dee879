"""Default values that affect results, without importing numpy."""

REGULARIZATION = 0.01
"""lambda in sum log-likelihood - (lambda / 2) |theta|^2: Soft-Elo's value and its authors' form.

Weak enough to move a rating by less than a hundredth of its error at a hundred battles, and strong
enough that a model that never lost has a finite rating."""
LEVEL = 0.95
"""Confidence level of intervals and rank sets."""
CALIBRATION_LEVEL = 0.9
"""Confidence level of conformal intervals and of the interval of beta."""
RESAMPLES = 1000
"""Bootstrap resamples: each end of a 95% percentile interval rests on 25 of them."""
RANKER_OF_DECISIONS = "bradley-terry"
"""The ranker whose ratings decide when a tournament stops by itself."""
RANKER_OF_UNKNOWN_SCALE = "bradley-terry"
"""The ranker of hard verdicts whose scale cannot be corrected."""
MEAN = 1500.0
"""Elo at the mean of the models that another is rated against."""
