"""The baccarat table, on recorded answers."""

from __future__ import annotations

from playwright.sync_api import StorageState

TABLE = "baccarat-solo-demo"


def speaking(language: str, origin: str) -> StorageState:
    """Returns the state of a browser in which a language was chosen before."""
    return {
        "cookies": [],
        "origins": [{"origin": origin, "localStorage": [{"name": "feltro.language", "value": language}]}],
    }
