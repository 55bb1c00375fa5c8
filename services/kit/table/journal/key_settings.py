"""The setting that names the keys of a game's sealed entropy, for its service and for `feltro replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, FilePath

from services.kit.settings import ServiceSettings
from services.kit.table.journal.sealing import NO_KEYS, EntropyKeys


def _check_keys(path: Path) -> Path:
    EntropyKeys.read(path)
    return path


EntropyKeysFile = Annotated[FilePath, AfterValidator(_check_keys)]


class EntropyKeysSettings(ServiceSettings):
    """The keys that seal the entropy of rounds in the journal; a game that hides no cards has none."""

    entropy_keys_file: EntropyKeysFile | None = None

    def entropy_keys(self) -> EntropyKeys:
        """Returns the keys; they are read again at every call."""
        return NO_KEYS if self.entropy_keys_file is None else EntropyKeys.read(self.entropy_keys_file)
