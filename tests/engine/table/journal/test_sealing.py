"""Entropy that hides cards is sealed with a key of its game: for its own round, by keys that can be rotated."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import pytest

from services.kit.settings import WrongSettings, load
from services.kit.table.journal.entries import Drawn
from services.kit.table.journal.sealing import (
    KEY_BYTES,
    KEYS_LIMIT,
    NO_KEYS,
    CannotSeal,
    CannotUnseal,
    EntropyKey,
    EntropyKeys,
)
from services.kit.table.server.settings import CardGameSettings, GameSettings
from stack.entropy_keys import entropy_keys_file
from tests.service.table.entries import dealt, drawn

OLD, NEW = EntropyKey("old", b"o" * KEY_BYTES), EntropyKey("new", b"n" * KEY_BYTES)
KEYS = EntropyKeys([OLD])
ROUND = replace(dealt("t1.1"), entropy=b"the order of the whole shoe")


def test_a_draw_is_unsealed_as_it_was() -> None:
    sealed = KEYS.seal(ROUND)
    assert (sealed.is_sealed, sealed.sealed_with) == (True, "old")
    assert KEYS.unseal(sealed) == ROUND
    assert KEYS.unseal(ROUND) == ROUND
    assert KEYS.seal(sealed) == sealed


@pytest.mark.guarantee("G7")
def test_g7_a_sealed_draw_holds_nothing_of_its_entropy() -> None:
    sealed = KEYS.seal(ROUND).entropy
    for length in (4, 8):
        for at in range(len(ROUND.entropy) - length + 1):
            assert ROUND.entropy[at : at + length] not in sealed
    # Nothing tells that two rounds have the same entropy.
    other = KEYS.seal(replace(ROUND, round_id="t1.2")).entropy
    assert not set(zip(*[iter(sealed)] * 4, strict=False)) & set(zip(*[iter(other)] * 4, strict=False))
    assert "k" * 8 not in repr(EntropyKey("1", b"k" * KEY_BYTES))


@pytest.mark.guarantee("G12")
def test_g12_a_file_that_cannot_be_read_is_no_file_without_keys(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match="cannot be read: "):
            EntropyKeys.read(path)


@pytest.mark.guarantee("G3")
def test_g3_a_draw_that_is_written_again_is_the_same_entry() -> None:
    assert KEYS.seal(ROUND) == KEYS.seal(ROUND)
    assert KEYS.seal(ROUND).entropy[:12] != KEYS.seal(replace(ROUND, entropy=b"another order")).entropy[:12]


@pytest.mark.guarantee("G7")
def test_g7_what_decisions_follow_or_what_hides_cards_is_sealed_and_nothing_else() -> None:
    public = drawn("t1.1")
    assert KEYS.seal(public) == public
    assert KEYS.seal(replace(public, hides_cards=True)).is_sealed
    assert KEYS.seal(replace(public, outcome=None)).is_sealed
    lost = replace(public, entropy=b"")
    assert KEYS.seal(replace(lost, hides_cards=True)).entropy == b""


@pytest.mark.guarantee("G12")
def test_g12_nothing_is_sealed_without_a_key() -> None:
    assert NO_KEYS.seal(drawn("t1.1")) == drawn("t1.1")
    with pytest.raises(CannotSeal, match=r"t1\.1 hides cards"):
        NO_KEYS.seal(ROUND)


def _changed(sealed: Drawn, at: int) -> Drawn:
    altered = bytearray(sealed.entropy)
    altered[at] ^= 1
    return replace(sealed, entropy=bytes(altered))


@pytest.mark.guarantee("G7")
@pytest.mark.guarantee("G10")
def test_entropy_is_unsealed_with_its_key_for_its_round_and_unchanged_only() -> None:
    sealed = KEYS.seal(ROUND)
    missing, wrong = EntropyKeys([NEW]), EntropyKeys([EntropyKey("old", NEW.secret)])
    for keys, entry, sentence in (
        (missing, sealed, "is sealed with key old, which is missing"),
        (NO_KEYS, sealed, "is sealed with key old, which is missing"),
        (wrong, sealed, "was not sealed with this key old for this round"),
        (KEYS, replace(sealed, round_id="t1.2"), "was not sealed with this key old for this round"),
        (KEYS, replace(sealed, entropy=sealed.entropy[:20]), "was not sealed with this key old for this round"),
        (KEYS, replace(sealed, entropy=b"short"), "was not sealed with this key old for this round"),
        *((KEYS, _changed(sealed, at), "was not sealed with this key old") for at in range(len(sealed.entropy))),
    ):
        with pytest.raises(CannotUnseal, match=sentence) as refused:
            keys.unseal(entry)
        assert ROUND.entropy.hex() not in f"{refused.value!r}"
        assert str(ROUND.entropy) not in f"{refused.value!r}"


def test_keys_are_rotated_by_adding_one_before_the_others() -> None:
    before = KEYS.seal(ROUND)
    both = EntropyKeys([NEW, OLD])
    after = both.seal(ROUND)
    assert (before.sealed_with, after.sealed_with) == ("old", "new")
    assert both.unseal(before) == both.unseal(after) == ROUND
    # A replica that has the new key among its keys reads what another has sealed with it already.
    assert EntropyKeys([OLD, NEW]).unseal(after) == ROUND


# -- the file of keys ------------------------------------------------------------------------------------------------


def test_a_file_names_its_keys_the_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"new {NEW.secret.hex()}\n\nold  {OLD.secret.hex().upper()}\n")
    keys = EntropyKeys.read(path)
    assert keys.seal(ROUND) == EntropyKeys([NEW]).seal(ROUND)
    assert keys.unseal(KEYS.seal(ROUND)) == ROUND


HEX = "ab" * KEY_BYTES


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "has to name 1 to"),
        (b"\n \n", "has to name 1 to"),
        (HEX.encode(), "line 1 has to be an id of its own and a key"),
        (f"a {HEX[:-2]}".encode(), "line 1 has to be an id of its own and a key"),
        (f"a {HEX}\na {'cd' * KEY_BYTES}".encode(), "line 2 has to be an id of its own and a key"),
        (f"a b {HEX}".encode(), "line 1 has to be an id of its own and a key"),
        (b"\xff\xfe", "has to be a text of lines"),
        ("\n".join(f"{number} {HEX}" for number in range(KEYS_LIMIT + 1)).encode(), "has to name 1 to"),
    ],
)
def test_g12_a_file_that_names_no_keys_is_refused_without_telling_them(
    content: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "keys").write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as refused:
        EntropyKeys.read(tmp_path / "keys")
    assert HEX[:8] not in str(refused.value)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """All settings of a card game but its entropy keys."""
    for variable in ("FELTRO_ISSUER_JWKS", "FELTRO_CARDS_TOKEN_FILE", "FELTRO_CARDS_TABLE_KEY_FILE"):
        monkeypatch.setenv(variable, __file__)
    for variable, value in {
        "FELTRO_NATS_URL": "tls://127.0.0.1:4222",
        "FELTRO_CARDS_NATS_PASSWORD": "a-password",
        "FELTRO_GRPC_TLS": "off",
        "FELTRO_CARDS_DATABASE_URL": "postgresql+asyncpg://feltro@127.0.0.1/feltro",
        "FELTRO_CARDS_LISTEN": "127.0.0.1:1",
        "FELTRO_CARDS_METRICS_LISTEN": "127.0.0.1:2",
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv(SETTING, raising=False)


SETTING = "FELTRO_CARDS_ENTROPY_KEYS_FILE"


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", ["production", "development"])
@pytest.mark.usefixtures("settings")
def test_g12_a_game_that_hides_cards_does_not_start_without_keys(
    environment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FELTRO_ENVIRONMENT", environment)
    with pytest.raises(WrongSettings) as wrong:
        load(CardGameSettings.for_service("cards"))
    assert str(wrong.value).startswith(f"{SETTING} is not set: this game hides cards")
    assert load(GameSettings.for_service("cards")).entropy_keys().seal(drawn("t1.1")) == drawn("t1.1")
    (tmp_path / "keys").write_text(f"one {secrets.token_hex(8)}")
    monkeypatch.setenv(SETTING, str(tmp_path / "keys"))
    with pytest.raises(WrongSettings) as wrong:
        load(CardGameSettings.for_service("cards"))
    assert str(wrong.value).startswith(f"{SETTING} line 1 has to be an id")


@pytest.mark.usefixtures("settings")
def test_the_keys_of_a_development_platform_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = entropy_keys_file(tmp_path / "keys", "cards")
    content = path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    assert entropy_keys_file(tmp_path / "keys", "cards").read_bytes() == content
    assert entropy_keys_file(tmp_path / "other", "cards").read_bytes() != content
    monkeypatch.setenv(SETTING, str(path))
    keys = load(CardGameSettings.for_service("cards")).entropy_keys()
    assert keys.unseal(keys.seal(ROUND)) == ROUND
