"""Local and remote files: finding, downloading and writing them.

A file is never written in part: it is complete or unchanged.
"""
