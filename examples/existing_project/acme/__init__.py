"""A team's own evals, made before the team knew podium."""
