"""The key of the ids of players' own tables: a game service does not start without one that cannot be guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.kit.settings import WrongSettings, load
from services.kit.table.live.individual_ids import SUFFIX_CHARACTERS, IndividualTableIds
from services.roulette.settings import RouletteSettings
from stack.table_key import table_key_file

SETTING = "FELTRO_ROULETTE_TABLE_KEY_FILE"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """All settings but the key."""
    for variable in ("FELTRO_ISSUER_JWKS", "FELTRO_ROULETTE_TOKEN_FILE"):
        monkeypatch.setenv(variable, __file__)
    monkeypatch.setenv("FELTRO_NATS_URL", "tls://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_ROULETTE_NATS_PASSWORD", "a-password")
    monkeypatch.setenv("FELTRO_GRPC_TLS", "off")
    monkeypatch.setenv("FELTRO_ROULETTE_DATABASE_URL", "postgresql+asyncpg://feltro@127.0.0.1/feltro")
    monkeypatch.delenv(SETTING, raising=False)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", ["production", "development"])
@pytest.mark.parametrize("key", [None, b"", b"short", b" " * 64 + b"\n"])
@pytest.mark.usefixtures("settings")
def test_g12_a_game_does_not_start_without_a_key(
    environment: str, key: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FELTRO_ENVIRONMENT", environment)
    if key is not None:
        (tmp_path / "key").write_bytes(key)
        monkeypatch.setenv(SETTING, str(tmp_path / "key"))
    with pytest.raises(WrongSettings) as wrong:
        load(RouletteSettings)
    assert str(wrong.value).startswith(f"{SETTING} ")
    assert "short" not in str(wrong.value)


@pytest.mark.usefixtures("settings")
def test_the_key_of_a_development_platform_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table_key_file(tmp_path / "keys", "roulette")
    made = path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    assert table_key_file(tmp_path / "keys", "roulette").read_bytes() == made
    assert table_key_file(tmp_path / "other", "roulette").read_bytes() != made
    monkeypatch.setenv(SETTING, str(path))
    assert load(RouletteSettings).table_key() == made


@pytest.mark.guarantee("G7")
def test_g7_ids_of_players_tables_depend_on_key_player_and_table() -> None:
    ids = IndividualTableIds(b"k" * 32)
    made = {
        ids.table_id("solo", "ana"),
        ids.table_id("solo", "rui"),
        ids.table_id("duo", "ana").replace("duo", "solo"),
        IndividualTableIds(b"K" * 32).table_id("solo", "ana"),
        # Longer than BLAKE2b's own keys.
        IndividualTableIds(b"k" * 100).table_id("solo", "ana"),
        IndividualTableIds(b"k" * 101).table_id("solo", "ana"),
    }
    assert len(made) == 6
    assert ids.table_id("solo", "ana") == IndividualTableIds(b"k" * 32).table_id("solo", "ana")
    assert {len(each) for each in made} == {len("solo") + SUFFIX_CHARACTERS}
