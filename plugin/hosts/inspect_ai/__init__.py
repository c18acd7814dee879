"""podium inside inspect-ai: tasks, scorers, metrics, a hook, an embedded judge."""
