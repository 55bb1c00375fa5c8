"""Tournaments as the bench plays them, and how their players come in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.clock import SystemClock
from services.kit.command_digest import digest
from services.kit.randomness.source import Randomness
from services.poker.directing.director import DirectorDependencies, TournamentDirector
from services.poker.messages import Brought, Outcome
from services.poker.tournament.money.entries import Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.refusals import REGULATION
from services.poker.tournament.specific_rules import Start, TournamentRules, default_rules
from services.poker.tournament.specific_rules_message import message_of
from services.poker.variant import Variant
from tests.bench.tables.runtime import MONEY_CENTS, BenchTables

PRICE = Price(1_000, 100, 200)
ACCOUNTS_AT_A_TIME = 32


def rules_when_full(players: int, **chosen: object) -> TournamentRules:
    """Returns rules of a tournament that begins when so many players are in."""
    return default_rules(Variant.HOLDEM, PRICE, start=Start.ON_FULL, max_players=players, **chosen)


def configuration(rules: TournamentRules) -> types_pb2.TableConfiguration:
    """Builds a tournament whose tables show nothing for long."""
    made = types_pb2.TableConfiguration(
        game="poker",
        regulation=REGULATION,
        mode=wallet_types.MODE_REAL,
        play=wallet_types.PLAY_TOURNAMENT,
        name=types_pb2.LocalizedText(pt="Medida", en="Bench"),
        seats=rules.seats,
        decision_ms=rules.decision_time_seconds * 1000,
    )
    made.rules.Pack(message_of(rules, None))
    return made


def director_of(
    tables: BenchTables[Brought, Outcome], tournament_id: str, configured: types_pb2.TableConfiguration
) -> TournamentDirector:
    """Makes a director as the service does."""
    dependencies = DirectorDependencies(
        journal=tables.facts,
        wallet=tables.wallet,
        clock=SystemClock(),
        randomness=Randomness(),
        notices=tables.own_views,
    )
    return TournamentDirector(tournament_id, configured, dependencies)


async def open_accounts(tables: BenchTables[Brought, Outcome], players: Sequence[str]) -> None:
    """Opens accounts with money."""
    slots = asyncio.Semaphore(ACCOUNTS_AT_A_TIME)

    async def open_account(player: str) -> None:
        async with slots:
            await tables.client.open_account(player, MONEY_CENTS)

    await asyncio.gather(*(open_account(player) for player in players))


async def register(director: TournamentDirector, players: Sequence[str]) -> None:
    """Registers all at once."""
    request = tournament_pb2.RegisterRequest(request_id="enter", tournament_id=director.tournament_id)
    content = digest(request)
    await asyncio.gather(*(director.buy(Purchase.ENTRY, player, "enter", content) for player in players))
