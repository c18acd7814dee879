"""podium inside lm-eval: the command with `--ranker`, a judging filter, and metrics."""
