"""From battles to a ranking: every ranker on every slice, and the answer."""
