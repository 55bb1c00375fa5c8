"""Locates the wallet's migrations, for `feltro migrate wallet` and for the wallet's check of the schema at start."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
