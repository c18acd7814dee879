"""podium inside inspect-ai: tasks, scorers, metrics, a hook, and a rule-based judge."""
