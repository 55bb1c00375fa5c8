"""The wallet's schema, for `feltro migrate wallet`, and for the wallet to know which one it needs."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
