"""Pages to share: a ranking, a leaderboard of many, a sheet of votes; each is a file that makes no
request."""
