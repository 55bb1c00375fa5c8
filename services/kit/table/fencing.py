"""The answer to an owner whose table another process has taken."""


class StaleOwner(Exception):
    """Another process has taken the table: nothing was written, and this one may do nothing more for it (G8)."""

    def __init__(self, sentence: str = "", known_epoch: int = 0) -> None:
        """`known_epoch` is the highest epoch that the refusing side has seen; 0 if it does not say."""
        super().__init__(sentence)
        self.known_epoch = known_epoch
