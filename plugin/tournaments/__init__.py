"""Tournaments: functions from the battles played so far to the next battles.

They call no judge and no host.
"""
