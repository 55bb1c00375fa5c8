"""The tables of a tournament at the real services: players decide, see their own cards alone, have histories."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from feltro.poker.v1 import poker_pb2, tournament_pb2, tournament_rules_pb2
from feltro.table.v1 import table_pb2, types_pb2
from tests.processes.wallet import refusal_reason
from tests.service.poker_tournament.platform import TournamentDriver, rules

TIMEOUT_S = 90.0
STACK = 1_500
LEVELS = [tournament_rules_pb2.TournamentLevel(small_blind=50, big_blind=100, seconds=3_600)]


async def _begin(driver: TournamentDriver) -> tuple[str, list[str]]:
    """A sit & go of three players who say that they are there: they have no connection of a browser."""
    tournament = await driver.create(rules(seats=3, max_players=3, starting_stack=STACK, levels=LEVELS))
    players = [await driver.new_player() for _ in range(3)]
    for player in players:
        await driver.register(tournament, player)
    table_id = f"{tournament}-t1"
    async with asyncio.timeout(TIMEOUT_S):
        while not _all_there(await _table(driver, players[0], table_id)):
            for player in players:
                await _come_back(driver, tournament, player)
            await driver.poker.advance_tables(1)
    return table_id, players


def _all_there(table: table_pb2.GetTableResponse) -> bool:
    seats = table.table.chips.seats
    return len(seats) == 3 and not any(each.away for each in seats)


async def _come_back(driver: TournamentDriver, tournament: str, player: str) -> None:
    request = tournament_pb2.SetTournamentPresenceRequest(tournament_id=tournament, away=False)
    await driver.again(
        lambda: driver.tournaments.SetTournamentPresence(request, metadata=driver.poker.player(player))
    )  # fmt: skip


async def _table(driver: TournamentDriver, player: str, table_id: str) -> table_pb2.GetTableResponse:
    return await driver.again(lambda: driver.poker.table(player, table_id))


def _own(table: table_pb2.GetTableResponse) -> poker_pb2.OwnView:
    own = poker_pb2.OwnView()
    table.own_seat.own_view.Unpack(own)
    return own


async def _turn(driver: TournamentDriver, players: list[str], table_id: str) -> tuple[str, table_pb2.GetTableResponse]:
    """Waits until one of the players has to decide, and returns who it is and what they see."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            for player in players:
                table = await _table(driver, player, table_id)
                if _own(table).HasField("legal") and _all_there(table):
                    return player, table
                if table.table.phase == types_pb2.PHASE_RESULT_SHOWN:
                    await driver.poker.advance_tables(1)


async def _act(driver: TournamentDriver, player: str, table: table_pb2.GetTableResponse, *, all_in: bool) -> None:
    legal, round_ = _own(table).legal, table.table.round
    move = poker_pb2.Move(action=poker_pb2.ACTION_CALL if legal.to_call_cents else poker_pb2.ACTION_CHECK)
    if all_in and legal.max_to_cents:
        move = poker_pb2.Move(action=poker_pb2.ACTION_RAISE, to_cents=legal.max_to_cents)
    request = table_pb2.ActRequest(
        request_id=f"{round_.round_id}-{round_.turn.turn}",
        table_id=table.table.table_id,
        round_id=round_.round_id,
        turn=round_.turn.turn,
    )
    request.move.Pack(move)
    await driver.again(lambda: driver.poker.tables.Act(request, metadata=driver.poker.player(player)))


@pytest.mark.rule("810/2015:42", "806/2015:34.a")
@pytest.mark.guarantee("G4", "G6", "G7", "G10")
async def test_players_decide_and_a_killed_owner_changes_no_card(driver: TournamentDriver) -> None:
    table_id, players = await _begin(driver)
    first, seen = await _turn(driver, players, table_id)
    round_id = seen.table.round.round_id
    cards = {player: list(_own(await _table(driver, player, table_id)).cards) for player in players}
    assert len({card for each in cards.values() for card in each}) == 2 * len(players)
    # Everybody sees chips and the notice of the tournament; nobody's money is named.
    notice = poker_pb2.TournamentNotice()
    assert seen.table.chips.notice.Unpack(notice)
    assert (notice.level, notice.small_blind, notice.big_blind, notice.players_left) == (1, 50, 100, 3)
    assert sum(each.chips for each in seen.table.chips.seats) == 3 * STACK
    # Nobody comes to such a table by themselves, and no cave is brought there.
    stranger = await driver.new_player()
    for call in (driver.poker.enter(stranger, table_id), driver.poker.buy_in(players[0], table_id, 1_000)):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
        assert refusal_reason(refused.value) == "WRONG_PLAY"
    await driver.platform.kill_and_start_again()
    again = {player: list(_own(await _table(driver, player, table_id)).cards) for player in players}
    assert again == cards
    _, seen = await _turn(driver, [first], table_id)
    assert seen.table.round.round_id == round_id
    await _play_out(driver, players, table_id, round_id)
    replayed = await driver.poker.replay(round_id)
    assert not replayed.differences
    assert {stake.amount_cents for stake in replayed.stakes} == {0}
    for player in players:
        phh = await driver.poker.export(player, table_id, round_id)
        assert '_amounts = "chips"' in phh
        assert "_currency" not in phh
        assert "".join(cards[player]) in phh


async def _play_out(driver: TournamentDriver, players: list[str], table_id: str, round_id: str) -> None:
    """Has players bet everything until a hand has ended, and is in their histories without any money."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            found = {each.round.round_id: each for each in (await driver.poker.rounds(players[0])).rounds}
            if round_id in found and found[round_id].round.HasField("ended_at"):
                assert (found[round_id].staked_cents, found[round_id].payout_cents) == (0, 0)
                return
            turns = [(player, await _table(driver, player, table_id)) for player in players]
            asked = [(player, seen) for player, seen in turns if _own(seen).HasField("legal")]
            for player, seen in asked:
                if seen.table.round.round_id == round_id:
                    await _act(driver, player, seen, all_in=True)
            if not asked:
                # Streets are dealt in their time.
                await driver.poker.advance_tables(1)
