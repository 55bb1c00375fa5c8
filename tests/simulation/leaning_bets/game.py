"""Baccarat in a simulated world, whose wallet is watched: no commit may break a rule about several bets together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.game import BaccaratGame
from services.baccarat.service import BaccaratService
from services.wallet.model.state import StakeState
from tests.simulation.environment.games import SimulatedGame
from tests.simulation.environment.players import Player, SendCommand
from tests.simulation.environment.world import Command, World

BACCARAT = SimulatedGame(BaccaratGame(), BaccaratService, baccarat_pb2)
MINIMUM_CENTS = 100
PRIZE_CAP_CENTS = 5_000


def configuration(
    *,
    individual: bool = False,
    macau: bool = False,
    window_ms: int = 3_000,
    result_shown_ms: int = 100,
    cut_card: int = 0,
) -> types_pb2.TableConfiguration:
    """Builds the configuration of a baccarat table."""
    made = types_pb2.TableConfiguration(
        game=BACCARAT.name,
        regulation="812/2015",
        mode=wallet_types.MODE_REAL,
        play=wallet_types.PLAY_INDIVIDUAL if individual else wallet_types.PLAY_MULTI_PLAYER,
        betting_window_ms=0 if individual else window_ms,
        result_shown_ms=result_shown_ms,
        seats=0 if individual else 9,
    )
    rules = baccarat_pb2.SpecificRules(
        packs=6,
        places=9,
        minimum_cents=MINIMUM_CENTS,
        commission=baccarat_pb2.COMMISSION_FIVE_PERCENT,
        cut_card=cut_card,
    )
    if macau:
        rules.macau, rules.prize_cap_cents, rules.player_maximum_cents = True, PRIZE_CAP_CENTS, 1_000_000
    made.rules.Pack(rules)
    return made


class BaccaratPlayer(Player):
    """A player of baccarat."""

    def prepare_deal(self, round_id: str) -> tuple[Command, SendCommand]:
        command = self._command("deal", round_id)
        request = baccarat_pb2.DealRequest(table_id=self.table_id, round_id=round_id)
        return command, lambda: self._send(command, lambda owner: owner.service.deal(request, self.caller))


def watch_commits(world: World, *, macau: bool) -> list[str]:
    """Checks rules 13 and 43 after every commit of the wallet; returns the list of what was broken, as it grows."""
    broken: list[str] = []
    handle = world.wallet.handle

    def handle_and_check(method: str, payload: bytes) -> bytes:
        answer = handle(method, payload)
        for round_id in world.wallet.rounds:
            broken.extend(f"{round_id} after {method}: {each}" for each in _broken_rules(world, round_id, macau=macau))
        return answer

    setattr(world.wallet, "handle", handle_and_check)  # noqa: B010 - the method of this one wallet
    return broken


def _broken_rules(world: World, round_id: str, *, macau: bool) -> Iterator[str]:
    """The regulation's own words, not the engine's."""
    on_table: dict[str, int] = {}
    for account_no, own in _bets_in_play(world, round_id).items():
        ponto, banca = own.get("ponto", 0), own.get("banca", 0)
        if ponto and banca and abs(ponto - banca) < MINIMUM_CENTS:
            yield f"812/2015:13: ponto {ponto}, banca {banca} of account {account_no}"
        for chance, cents in own.items():
            on_table[chance] = on_table.get(chance, 0) + cents
    if not macau:
        return
    if abs(on_table.get("ponto", 0) - on_table.get("banca", 0)) > PRIZE_CAP_CENTS:
        yield f"812/2015:43.a: {on_table}"
    if on_table.get("tie", 0) * 10 > PRIZE_CAP_CENTS:
        yield f"812/2015:43.b: {on_table}"
    if (on_table.get("ponto-pair", 0) + on_table.get("banca-pair", 0)) * 100 > 8 * PRIZE_CAP_CENTS:
        yield f"812/2015:43.c: {on_table}"


def _bets_in_play(world: World, round_id: str) -> Mapping[int, dict[str, int]]:
    """The bets of each account that the wallet holds, by chance."""
    found: dict[int, dict[str, int]] = {}
    for stored in world.wallet.stakes_of(round_id):
        if stored.stake.state is not StakeState.OPEN:
            continue
        own = found.setdefault(stored.stake.account_no, {})
        for bet in baccarat_pb2.Bets.FromString(stored.detail_after(math.inf)).bets:
            own[bet.place] = own.get(bet.place, 0) + bet.amount_cents
    return found
