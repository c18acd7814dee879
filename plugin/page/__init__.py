"""Pages to share: a report of a ranking, a leaderboard of many, and a sheet of votes, each one file without requests."""
