"""podium inside lm-eval: the command with `--ranker`, a judging filter, metrics, and what is
written back."""
