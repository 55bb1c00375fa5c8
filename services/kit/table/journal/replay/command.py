"""`feltro replay`: recomputes rounds from a game's journal and says whether they agree with the ledger (G10).

It reads the journal's database directly, so that it works while the game's service is stopped, and the ledger through
the wallet.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from google.protobuf.message import DecodeError
from pydantic import Field, PostgresDsn
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import ticket_pb2, tournament_pb2, wallet_pb2
from services.kit.clock import SystemClock
from services.kit.database import postgresql
from services.kit.refusal import Refused
from services.kit.rpc.settings import GrpcSettings
from services.kit.settings import WrongSettings, load
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.configuration.versions import Configurations
from services.kit.table.game import Game
from services.kit.table.journal.history import RoundHistory, RoundRecord
from services.kit.table.journal.key_settings import EntropyKeysSettings
from services.kit.table.journal.replay import hands
from services.kit.table.journal.replay import report as replay_report
from services.kit.table.journal.replay.computation import RoundReplay
from services.kit.table.journal.replay.report import ReplayedRound
from services.kit.table.journal.sealing import CannotUnseal, EntropyKeys
from services.kit.table.journal.tournament_entries import JournalledFact
from services.kit.table.journal.tournament_facts import PostgresFacts
from services.kit.table.wallet.client import ServiceTokenRefused, WalletFailed, WalletUnanswered, get_whole_round
from services.kit.table.wallet.grpc_client import WALLET_SERVICE, GrpcWallet
from services.kit.table.wallet.service_token import ServiceTokenSettings
from services.kit.table.wallet.tournament_wallet import TournamentWallet

_Answer = TypeVar("_Answer")

AGREES, DIFFERS, NOT_CHECKED = 0, 1, 2
# Games register the class of their `Game` under this name.
GAMES_GROUP = "feltro.games"
CONNECTIONS = 2
# Rounds that are listed at a time (G11).
ROUNDS_PAGE = 500
# How often a round is read again that changed while it was read.
READ_ATTEMPTS_LIMIT = 5

_ENDED_ROUNDS = text("""
SELECT rounds.round_no, rounds.round_id FROM rounds JOIN endings ON endings.round_no = rounds.round_no
WHERE rounds.round_no > :after
  AND (CAST(:table_id AS text) IS NULL OR rounds.table_id = :table_id OR rounds.placement_id = :table_id)
  AND (CAST(:since AS timestamptz) IS NULL OR endings.ended_at >= :since)
ORDER BY rounds.round_no LIMIT :rows
""")
_ENDED_COUNT = text("""
SELECT count(*) FROM rounds JOIN endings ON endings.round_no = rounds.round_no
WHERE (CAST(:table_id AS text) IS NULL OR rounds.table_id = :table_id OR rounds.placement_id = :table_id)
  AND (CAST(:since AS timestamptz) IS NULL OR endings.ended_at >= :since)
""")


class CannotCheck(Exception):
    """A round, or every round, cannot be checked; the message says why and what to do (G12)."""


class Explanation(Protocol):
    """What happened in a tournament, and where journal and ledger differ."""

    lines: list[str]
    differences: list[str]


@runtime_checkable
class TournamentGame(Protocol):
    """A game with tournaments."""

    def explain_tournament(
        self,
        tournament_id: str,
        configuration: types_pb2.TableConfiguration,
        facts: Sequence[JournalledFact],
        money: tournament_pb2.GetTournamentMoneyResponse,
        pay_ins: Sequence[tournament_pb2.TournamentPayIn],
        awards: Sequence[tournament_pb2.TournamentAward],
        tickets: Sequence[ticket_pb2.Ticket],
    ) -> Explanation:
        """Replays the facts of a tournament, and holds what they pay, and the tickets to it, against the ledger."""


class ReplaySettings(EntropyKeysSettings, ServiceTokenSettings, GrpcSettings):
    """The addresses of journal and ledger, and the keys of the journal, from the variables of the game's service."""

    database_url: PostgresDsn
    wallet_address: str = Field("127.0.0.1:8710", validation_alias="FELTRO_WALLET_ADDRESS", min_length=1)


@dataclass(frozen=True, slots=True)
class RoundFilter:
    """Selects rounds that have ended."""

    table_id: str | None
    since: datetime | None


class Replayer:
    """Replays rounds with their record in the journal and their round in the ledger."""

    def __init__(
        self, engine: AsyncEngine, game: Game[Any, Any], wallet: GrpcWallet, entropy_keys: EntropyKeys
    ) -> None:
        self._engine = engine
        self._game = game
        self._wallet = wallet
        self._entropy_keys = entropy_keys
        self._history = RoundHistory(engine)
        self._configurations = Configurations(engine, SystemClock())
        self._rules: dict[tuple[str, int], VersionedRules[Any, Any]] = {}

    async def count(self, rounds: RoundFilter) -> int:
        values = {"table_id": rounds.table_id, "since": rounds.since}
        async with self._engine.connect() as connection:
            return int((await connection.execute(_ENDED_COUNT, values)).scalar_one())

    async def ended_round_ids(self, rounds: RoundFilter) -> AsyncIterator[str]:
        """Yields the ids of the selected rounds in the order of their opening."""
        after = 0
        while True:
            values = {"after": after, "table_id": rounds.table_id, "since": rounds.since, "rows": ROUNDS_PAGE}
            async with self._engine.connect() as connection:
                rows = (await connection.execute(_ENDED_ROUNDS, values)).all()
            for row in rows:
                yield row.round_id
            if len(rows) < ROUNDS_PAGE:
                return
            after = rows[-1].round_no

    async def replay(self, round_id: str) -> ReplayedRound:
        record, ledger = await self._read(round_id)
        versioned_rules = await self._rules_of(record)
        play = versioned_rules.configuration.play
        moved = hands.NOTHING_MOVED if hands.is_for_chips(play) else None
        if ledger is not None and hands.is_hand(play):
            moved = await self._ask_ledger(hands.read_moved(self._wallet.list_transactions, round_id))
        try:
            record = record.unsealed(self._entropy_keys)
        except CannotUnseal as sealed:
            variable = ReplaySettings.for_service(self._game.name).variable_name("entropy_keys_file")
            raise CannotCheck(f"{sealed}. Name the file of all keys of the game in {variable}.") from sealed
        try:
            replayed = RoundReplay(record, versioned_rules.version, versioned_rules.rules, ledger, moved)
            answer = replayed.compute()
            return replay_report.describe_round(record, versioned_rules, answer)
        except (DecodeError, LookupError, ValueError, Refused) as unreadable:
            raise CannotCheck(
                f"the journal's entries of {round_id} make no sense under version "
                f"{record.opened.configuration_version} of the rules ({type(unreadable).__name__}: {unreadable}). "
                "Replay it with the software that it was played with; if that reads no more, the journal is damaged."
            ) from unreadable

    async def explain_tournament(self, tournament_id: str) -> Explanation | None:
        """Explains what a tournament has taken and paid; None if the journal has no fact of such a tournament."""
        facts = await PostgresFacts(self._engine).facts(tournament_id)
        game = self._game
        if not facts or not isinstance(game, TournamentGame):
            return None
        version = await self._configurations.version(tournament_id, 1)
        if version is None:
            raise CannotCheck(f"the journal has no rules of {tournament_id}: it is not complete.")
        ledger = TournamentWallet(self._wallet, tournament_id, 0)
        try:
            money, pay_ins, awards = await ledger.money(), await ledger.pay_ins(), await ledger.awards()
            tickets = await ledger.tickets()
        except (WalletFailed, WalletUnanswered) as failed:
            raise CannotCheck(f"the wallet does not answer ({failed}). Its log says why.") from failed
        except Refused as refused:
            raise CannotCheck(f"the wallet refuses ({refused.reason}: {refused.sentence}).") from refused
        return game.explain_tournament(tournament_id, version.configuration, facts, money, pay_ins, awards, tickets)

    async def _read(self, round_id: str) -> tuple[RoundRecord, wallet_pb2.Round | None]:
        """Reads journal and ledger as of one moment: again, if the record changed in between."""
        for _ in range(READ_ATTEMPTS_LIMIT):
            before = await self._history.round_for_replay(round_id)
            if before is None:
                raise CannotCheck(
                    f"the journal has no round {round_id!r}. `feltro replay --all` goes through all it has."
                )
            ledger = await self._read_ledger(round_id)
            if before.ended is not None or before == await self._history.round_for_replay(round_id):
                return before, ledger
        raise CannotCheck(f"the round {round_id} is just being played: try again when it has ended.")

    async def _read_ledger(self, round_id: str) -> wallet_pb2.Round | None:
        return await self._ask_ledger(get_whole_round(self._wallet.get_round, round_id))

    async def _ask_ledger(self, asking: Awaitable[_Answer]) -> _Answer | None:
        """Returns the ledger's answer; None if it does not know the round."""
        try:
            return await asking
        except ServiceTokenRefused as refused:
            raise CannotCheck(
                f"the wallet refuses ({refused}). It needs a token of scope `game` for this game that has not expired."
            ) from refused
        except WalletFailed as failed:
            raise CannotCheck(f"the wallet has failed ({failed}). Its log says why.") from failed
        except WalletUnanswered as unanswered:
            raise CannotCheck(
                f"the wallet does not answer ({unanswered}). Start it, or name it in FELTRO_WALLET_ADDRESS."
            ) from unanswered
        except Refused as refused:
            if refused.reason != "ROUND_UNKNOWN":
                raise CannotCheck(f"the wallet refuses ({refused.reason}: {refused.sentence}).") from refused
            return None

    async def _rules_of(self, record: RoundRecord) -> VersionedRules[Any, Any]:
        key = (record.opened.placement_id, record.opened.configuration_version)
        if key not in self._rules:
            version = await self._configurations.version(*key)
            if version is None:
                raise CannotCheck(f"the journal has no version {key[1]} of the rules of {key[0]}: it is not complete.")
            try:
                self._rules[key] = VersionedRules(version, self._game.rules(version.configuration))
            except Refused as refused:
                raise CannotCheck(
                    f"this software does not accept version {key[1]} of the rules of {key[0]} ({refused.sentence}): "
                    "replay with the software that the rounds were played with."
                ) from refused
        return self._rules[key]


def command(argv: list[str]) -> int:
    """Computes rounds again and compares them with the ledger."""
    games = {point.name: point for point in entry_points(group=GAMES_GROUP)}
    only_game = next(iter(games)) if len(games) == 1 else None
    parser = argparse.ArgumentParser(
        prog="feltro replay",
        description="Compute a round again from the journal and hold it against the ledger. Status 0: they agree;"
        " 1: they differ; 2: it could not be checked. Safe while the platform runs.",
    )
    parser.add_argument("round", nargs="?", help="the round, such as french.17, or a tournament")
    parser.add_argument("--all", action="store_true", help="all rounds that have ended, with a summary")
    parser.add_argument("--table", metavar="ID", help="with --all: of this table only")
    parser.add_argument("--since", metavar="ISO-TIME", type=_moment, help="with --all: that ended then or later")
    parser.add_argument("--game", default=only_game, required=only_game is None, help=f"whose journal ({only_game})")
    chosen = parser.parse_args(argv)
    if (chosen.round is None) != chosen.all:
        parser.error("name one round, or --all")
    if not chosen.all and (chosen.table or chosen.since):
        parser.error("--table and --since go with --all")
    try:
        game = _find_game(games, chosen.game)
        settings = load(ReplaySettings.for_service(chosen.game))
        if chosen.all:
            return asyncio.run(_replay_all(settings, game, RoundFilter(chosen.table, chosen.since)))
        return asyncio.run(_replay_one(settings, game, chosen.round))
    except (CannotCheck, WrongSettings) as problem:
        print(f"feltro replay: {problem}", file=sys.stderr)
    except postgresql.DATABASE_FAILURES as failed:
        reason = (str(failed) or type(failed).__name__).splitlines()[0]
        variable = ReplaySettings.for_service(chosen.game).variable_name("database_url")
        print(f"feltro replay: the journal cannot be read ({reason}). Start its database, or name it in {variable}.",
              file=sys.stderr)  # fmt: skip
    return NOT_CHECKED


def _moment(text_: str) -> datetime:
    """Reads a time; without an offset it is UTC, as in every report."""
    moment = datetime.fromisoformat(text_)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _find_game(games: Mapping[str, EntryPoint], name: str) -> Game[Any, Any]:
    if name not in games:
        raise CannotCheck(f"there is no game {name!r} here.")
    return cast("Callable[[], Game[Any, Any]]", games[name].load())()


@asynccontextmanager
async def _replayer(settings: ReplaySettings, game: Game[Any, Any]) -> AsyncIterator[Replayer]:
    engine = postgresql.connect(str(settings.database_url), "feltro replay", CONNECTIONS)
    try:
        async with settings.transport().open_channel(settings.wallet_address, WALLET_SERVICE) as channel:
            wallet = GrpcWallet(channel, settings.token_source(game.name).metadata)
            yield Replayer(engine, game, wallet, settings.entropy_keys())
    finally:
        await engine.dispose()


async def _replay_one(settings: ReplaySettings, game: Game[Any, Any], round_id: str) -> int:
    async with _replayer(settings, game) as replayer:
        explained = await replayer.explain_tournament(round_id)
        if explained is not None:
            print("\n".join(explained.lines))
            return DIFFERS if explained.differences else AGREES
        replayed = await replayer.replay(round_id)
    print("\n".join(replay_report.round_report(replayed)))
    return DIFFERS if replayed.response.differences else AGREES


async def _replay_all(settings: ReplaySettings, game: Game[Any, Any], selected: RoundFilter) -> int:
    async with _replayer(settings, game) as replayer:
        summary = replay_report.Summary(await replayer.count(selected), _progress())
        async for round_id in replayer.ended_round_ids(selected):
            try:
                replayed = await replayer.replay(round_id)
            except CannotCheck as problem:
                summary.add_unchecked(round_id, str(problem))
            else:
                summary.add(round_id, replayed)
    print("\n".join(summary.lines()))
    if summary.differing:
        return DIFFERS
    return NOT_CHECKED if summary.unchecked else AGREES


def _progress() -> Callable[[str], None]:
    """Returns a printer whose lines replace each other on a terminal, and follow each other in a file."""
    end = "\r" if sys.stderr.isatty() else "\n"
    return lambda line: print(line, end=end, file=sys.stderr, flush=True)
