"""The answer to an owner whose table another process has taken."""


class StaleOwner(Exception):
    """Another process has taken the table: nothing was written, and this one may do nothing more for it (G8)."""
