"""What a crash run has to know of baccarat: chapter I and Macau, with limits that the bots reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.baccarat import BaccaratClient, BaccaratProcess, configuration
from tests.processes.game import GameProcess
from tests.service.roulette_crash.games import CrashGame, Launched, PlacedStake

# Three bots at a table of Macau pass it now and then.
PRIZE_CAP_CENTS = 3_000
MINIMUM_CENTS = 100
# A shoe lasts for about ten rounds.
CUT_CARD = 50


class CrashBaccarat(CrashGame[BaccaratClient]):
    """Every second table is one of Macau; the shoes of the others go on from round to round."""

    name = "baccarat"
    process: type[GameProcess] = BaccaratProcess
    # Some bets of ponto and banca are too close to each other (812/2015:13): these are refused.
    bets: Sequence[Mapping[str, int]] = (
        {"ponto": 100},
        {"ponto": 1000, "tie": 100},
        {"banca": 1000},
        {"banca": 2000, "banca-pair": 100},
        {"tie": 200, "ponto-pair": 100},
    )
    tolerated = frozenset({"BETS_TOO_CLOSE", "ABOVE_TABLE_LIMIT", "ABOVE_MAXIMUM"})

    def configuration(
        self, number: int, play: wallet_types.Play.ValueType, mode: wallet_types.Mode.ValueType
    ) -> types_pb2.TableConfiguration:
        macau = number % 2 == 1
        rules = {"prize_cap_cents": PRIZE_CAP_CENTS} if macau else {"cut_card": CUT_CARD}
        return configuration(play=play, mode=mode, macau=macau, rules=rules)

    async def place(
        self,
        client: BaccaratClient,
        player_id: str,
        table_id: str,
        round_id: str,
        bets: Mapping[str, int],
        request_id: str,
    ) -> PlacedStake:
        return (await client.bet(player_id, table_id, round_id, bets, request_id)).stake

    async def cancel(
        self, client: BaccaratClient, player_id: str, table_id: str, round_id: str, request_id: str
    ) -> int:
        return (await client.cancel_bets(player_id, table_id, round_id, None, request_id)).cancelled_cents

    async def launch(self, client: BaccaratClient, player_id: str, table_id: str, round_id: str) -> Launched:
        return await client.deal(player_id, table_id, round_id)

    def verify_bets(self, table: types_pb2.TableConfiguration, bets: Mapping[str, Sequence[bytes]]) -> None:
        """Rules 13 and 43, in their own words."""
        rules = baccarat_pb2.SpecificRules()
        assert table.rules.Unpack(rules)
        on_table: dict[str, int] = {}
        for of_player in bets.values():
            own = _together(of_player)
            ponto, banca = own.get("ponto", 0), own.get("banca", 0)
            assert not (ponto and banca) or abs(ponto - banca) >= MINIMUM_CENTS, own
            for chance, cents in own.items():
                on_table[chance] = on_table.get(chance, 0) + cents
        if rules.macau:
            cap = rules.prize_cap_cents
            assert abs(on_table.get("ponto", 0) - on_table.get("banca", 0)) <= cap, on_table
            assert on_table.get("tie", 0) * 10 <= cap, on_table
            assert (on_table.get("ponto-pair", 0) + on_table.get("banca-pair", 0)) * 100 <= 8 * cap, on_table


def _together(stakes: Sequence[bytes]) -> dict[str, int]:
    found: dict[str, int] = {}
    for stake in stakes:
        for bet in baccarat_pb2.Bets.FromString(stake).bets:
            found[bet.place] = found.get(bet.place, 0) + bet.amount_cents
    return found


BACCARAT = CrashBaccarat()
