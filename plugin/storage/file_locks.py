"""Locks on open files and folders, which the system releases when the process that holds them ends in any way."""


def lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock a file until it is closed; return False if another process holds it, or the system cannot lock files."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True
