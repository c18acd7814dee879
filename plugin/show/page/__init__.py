"""Pages to share: a ranking, a leaderboard of many rankings, a sheet of votes.

Each page is one file that makes no network request.
"""
