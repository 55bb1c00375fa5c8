"""What a crash run has to know of blackjack: bets on several places, and decisions chosen by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.blackjack import BlackjackClient, BlackjackProcess, configuration
from tests.processes.game import GameProcess
from tests.service.roulette_crash.games import CrashGame, Decision, PlacedStake

PLACES_PER_PLAYER = 2


class CrashBlackjack(CrashGame[BlackjackClient]):
    """Every player may play two places."""

    name = "blackjack"
    process: type[GameProcess] = BlackjackProcess
    bets: Sequence[Mapping[str, int]] = (
        {"1": 500},
        {"2": 700},
        {"3": 1_000},
        {"5": 2_000},
        {"7": 5_000},
    )
    # Others bet there, or the player has bet elsewhere.
    tolerated = frozenset({"PLACE_TAKEN", "TOO_MANY_PLACES"})
    has_turns = True

    def configuration(
        self, number: int, play: wallet_types.Play.ValueType, mode: wallet_types.Mode.ValueType
    ) -> types_pb2.TableConfiguration:
        return configuration(play=play, mode=mode, places_per_player=PLACES_PER_PLAYER)

    async def place(
        self,
        client: BlackjackClient,
        player_id: str,
        table_id: str,
        round_id: str,
        bets: Mapping[str, int],
        request_id: str,
    ) -> PlacedStake:
        ((place, cents),) = bets.items()
        return (await client.bet(player_id, table_id, round_id, place, cents, request_id)).stake

    async def cancel(
        self, client: BlackjackClient, player_id: str, table_id: str, round_id: str, request_id: str
    ) -> int:
        return (await client.cancel_bets(player_id, table_id, round_id, request_id)).cancelled_cents

    async def launch(self, client: BlackjackClient, player_id: str, table_id: str, round_id: str) -> None:
        await client.deal(player_id, table_id, round_id)

    def decide(self, shown: table_pb2.GetTableResponse, dice: Random) -> Decision | None:
        own = blackjack_pb2.OwnView()
        if not shown.own_seat.own_view.Unpack(own) or not own.options:
            return None
        option = dice.choice(own.options)
        insurance_cents = option.cost_cents if option.decision == blackjack_pb2.DECISION_INSURE else 0
        move = blackjack_pb2.Move(place=option.place, decision=option.decision, insurance_cents=insurance_cents)
        return Decision(move, option.cost_cents)


BLACKJACK = CrashBlackjack()
