"""The token with which a game service calls other services."""

from pathlib import Path


class ServiceToken:
    """Reads the token from its file, and again whenever the file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_at = 0
        self._metadata: tuple[tuple[str, str], ...] = ()

    def metadata(self) -> tuple[tuple[str, str], ...]:
        changed_at = self._path.stat().st_mtime_ns
        if changed_at != self._read_at:
            self._metadata = (("authorization", f"Bearer {self._path.read_text().strip()}"),)
            self._read_at = changed_at
        return self._metadata
