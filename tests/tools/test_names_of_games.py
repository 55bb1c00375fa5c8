"""A game is named where it is registered and nowhere else: neither the platform nor the front-end knows one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.games import GAMES

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(game.name for game in GAMES)
# What every game runs on. Documents, tests and contracts may speak of games as they like.
PLATFORM = (
    *("gateway", "services", "stack", "tools", "web/src", "hatch_build.py", "pyproject.toml", "Makefile", ".ci"),
    *("Dockerfile", "compose.yaml"),
)
# Made by the build from the contracts, whether it has run or not.
GENERATED = frozenset({"web/src/api/schema.d.ts"})
# What is a game's own.
OWN = ("services/{game}/", "stack/tables/{game}.json", "web/src/games/{game}/")
# Bots of the development stack that play one game.
PRACTICE = {"poker": "stack/practice/"}
# Where a game is registered; docs/adding-a-game.md says what is written there.
REGISTRATION = frozenset({"pyproject.toml", "stack/games.py", "web/src/games.ts", "Dockerfile", "compose.yaml"})
# Reads the journals of one game's tables, and compares with its outcomes; compares an engine with others.
ABOUT_ONE_GAME = frozenset({"tools/rng_report/samples.py", "tools/rng_report/table_draws.py", "Makefile"})
# Poker is a kind of play besides, as the contracts call it (`PLAY_POKER`): players against each other, with caves. The
# ledger and the runtime know that kind, and no game of it.
ABOUT_A_KIND_OF_PLAY = {
    "poker": frozenset(
        {
            "services/kit/table/configuration/specific_rules.py",
            "services/kit/table/journal/replay/hands.py",
            "services/kit/table/server/process.py",
            *(
                f"services/wallet/{file}"
                for file in (
                    "audit/checks.py",
                    "ledger/caves.py",
                    "ledger/rounds.py",
                    "model/inactivity.py",
                    "model/state.py",
                    "server/wallet_service.py",
                    "sessions/summary.py",
                    "store/id_cache.py",
                    "store/shared_devices.py",
                )
            ),
        }
    )
}


def sources() -> Iterator[tuple[str, str]]:
    """The platform's files and their text."""
    for name in PLATFORM:
        for file in [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*")):
            path = file.relative_to(ROOT).as_posix()
            if file.is_file() and "__pycache__" not in file.parts and path not in GENERATED:
                try:
                    yield path, file.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue


def files_naming(game: str, texts: Iterator[tuple[str, str]]) -> set[str]:
    """The files, beside the game's own, that name it in any spelling: `blackjack`, `BlackjackService`, `BLACKJACK`."""
    own = (*(path.format(game=game) for path in OWN), *([PRACTICE[game]] if game in PRACTICE else []))
    named = re.compile(game, re.IGNORECASE)
    return {path for path, text in texts if named.search(text) and not path.startswith(own)}


@pytest.mark.parametrize("game", NAMES)
def test_the_platform_names_a_game_only_where_games_are_registered(game: str) -> None:
    found = files_naming(game, sources())

    assert found - ABOUT_ONE_GAME - ABOUT_A_KIND_OF_PLAY.get(game, frozenset()) == REGISTRATION


def test_a_game_that_is_named_elsewhere_is_found() -> None:
    texts = [
        ("gateway/live/hub.py", "if message.game == 'dice':"),
        ("services/kit/clock.py", "# nothing"),
        ("services/dice/engine.py", "dice"),
        ("services/poker/engine.py", "from services.dice import engine"),
        ("web/src/lobby/lobby.ts", "new DiceTable()"),
    ]

    assert files_naming("dice", iter(texts)) == {
        "gateway/live/hub.py",
        "services/poker/engine.py",
        "web/src/lobby/lobby.ts",
    }


def test_every_folder_of_a_game_is_a_registered_game() -> None:
    """A folder that no registration names would never be started, tested nor shown.

    What makes a game of a folder is `definition.py`, from which its process is started.
    """
    connected = {file.parent.name for file in ROOT.glob("services/*/definition.py")}
    shown = {folder.name for folder in (ROOT / "web" / "src" / "games").iterdir() if folder.is_dir()}

    assert connected == shown == set(NAMES)
