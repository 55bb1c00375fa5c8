"""The answer to an owner whose table another process has taken."""


class StaleOwner(Exception):
    """Another process has taken the table: nothing was written, and this one may do nothing more for it (G8)."""

    def __init__(self, sentence: str = "", current_epoch: int = 0) -> None:
        super().__init__(sentence)
        # The epoch that shut this owner out; 0 where it is not told.
        self.current_epoch = current_epoch
