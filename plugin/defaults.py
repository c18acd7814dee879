"""Default values that affect results, without importing numpy."""

REGULARIZATION = 0.01
"""lambda in the fitted objective, sum log-likelihood - (lambda / 2) |theta|^2 (as in Soft-Elo).

At a hundred battles, it moves a rating by less than a hundredth of the rating's standard error. It
gives a finite rating to a model that never lost.
"""
LEVEL = 0.95
"""Confidence level of intervals and rank sets."""
CALIBRATION_LEVEL = 0.9
"""Confidence level of conformal intervals and of the interval of beta."""
RESAMPLES = 1000
"""Number of bootstrap resamples. 25 of them lie beyond each end of a 95% percentile interval."""
RANKER_OF_DECISIONS = "bradley-terry"
"""The ranker by whose ratings a tournament decides which models differ and when to stop."""
RANKER_OF_UNKNOWN_SCALE = "bradley-terry"
"""The ranker of hard verdicts when nothing puts them on the human scale."""
MEAN = 1500.0
"""Elo rating that stands for the mean of the models."""
