"""Players who do what rule 11 forbids: another one complains, the operator sees the whole hand, and shuts them out.

No program sees what players agree on, or what decides for them. So the table's rules forbid it (test_rules_text.py),
every card and decision is there for the operator, and a player who is shut out leaves with the money that is theirs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import grpc
import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import complaint_pb2, session_pb2, wallet_pb2
from tests.service.game_driver import SeatedPlayer
from tests.service.poker.platform import CALL, DECISION_S, MONEY_CENTS, PokerDriver
from tests.service.refusals import refusal_of

BOTH = pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
POT = poker_pb2.LIMIT_POT


async def complain(driver: PokerDriver, player: SeatedPlayer, round_id: str, text: str) -> str:
    """Has a player complain about a hand; returns the reference."""
    request = complaint_pb2.FileComplaintRequest(
        request_id=driver.unique_name("complaint"), account_id=player.account_id, round_id=round_id, text=text
    )
    metadata = driver.wallet.bearer("player", player.player_id)
    return (await driver.wallet.complaints.FileComplaint(request, metadata=metadata)).complaint.reference


async def complaint(driver: PokerDriver, reference: str) -> complaint_pb2.Complaint:
    """A complaint as the operator reads it."""
    request = complaint_pb2.GetComplaintRequest(reference=reference)
    return (await driver.wallet.complaints.GetComplaint(request, metadata=driver.wallet.operator)).complaint


async def answer(driver: PokerDriver, reference: str, text: str) -> None:
    """Answers a complaint, and finds the answer where its player reads it."""
    request = complaint_pb2.AnswerComplaintRequest(
        reference=reference, request_id=driver.unique_name("answer"), text=text
    )
    await driver.wallet.complaints.AnswerComplaint(request, metadata=driver.wallet.operator)
    found = await complaint(driver, reference)
    asked = complaint_pb2.GetComplaintRequest(reference=reference)
    metadata = driver.wallet.bearer("player", found.player_id)
    read = (await driver.wallet.complaints.GetComplaint(asked, metadata=metadata)).complaint
    assert (read.steps[-1].text, read.steps[-1].by_operator) == (text, True)


async def whole_hand(driver: PokerDriver, table_id: str, round_id: str) -> dict[str, list[str]]:
    """A hand as the operator exports it: all cards, all players, all decisions."""
    request = poker_pb2.ExportHandRequest(table_id=table_id, round_id=round_id)
    return tomllib.loads((await driver.poker.poker.ExportHand(request, metadata=driver.poker.operator)).phh)


async def shut_out(driver: PokerDriver, player: SeatedPlayer) -> None:
    """Has the operator block an account, and end what its player plays."""
    block = wallet_pb2.BlockAccountRequest(account_id=player.account_id, reason="rule 11")
    await driver.wallet.wallet.BlockAccount(block, metadata=driver.wallet.operator)
    end = session_pb2.EndPlayerSessionsRequest(player_id=player.player_id, cause=session_pb2.END_CAUSE_OPERATOR)
    await driver.wallet.sessions.EndPlayerSessions(end, metadata=driver.wallet.operator)


async def is_out(driver: PokerDriver, player: SeatedPlayer, lost_cents: int) -> None:
    """Waits until a player has left with what is theirs, and finds that they cannot come back."""
    ended = await driver.session_ended(player)
    assert ended.session.end_cause == session_pb2.END_CAUSE_OPERATOR
    assert await driver.balance(player) == MONEY_CENTS - lost_cents
    await driver.wait_for(player.table_id, lambda table: player.seat not in {cave.seat for cave in table.caves})
    for table_id in (player.table_id, await driver.new_table()):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await driver.poker.enter(player.player_id, table_id)
        assert refusal_of(refused.value).reason == "ACCOUNT_BLOCKED"
    with pytest.raises(grpc.aio.AioRpcError) as stranger:
        await driver.buy_in(player)
    assert refusal_of(stranger.value).reason == "NOT_SEATED"


async def recorded(driver: PokerDriver, round_id: str) -> dict[int, list[table_pb2.RecordedMove]]:
    """The decisions of a hand by seat, as the operator reads them: on whose word, and when."""
    moves: dict[int, list[table_pb2.RecordedMove]] = {}
    for move in (await driver.poker.replay(round_id)).moves:
        moves.setdefault(move.seat, []).append(move)
    return moves


@BOTH
@pytest.mark.guarantee("G1", "G7")
@pytest.mark.rule("806/2015:11.c", "806/2015:11.e", "811/2015:11.c", "811/2015:11.e")
async def test_two_who_pass_chips_to_each_other_are_found_out_by_the_whole_hand_and_shut_out(
    driver: PokerDriver, regulation: str
) -> None:
    players = await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=POT)
    table_id = players[0].table_id
    playing = await driver.playing(table_id)
    by_seat = {player.seat: player for player in players}
    giving, taking, victim = (
        by_seat[seat] for seat in (playing.seat, playing.view.small_blind, playing.view.big_blind)
    )
    cards = {player.player_id: "".join((await driver.own_view(player)).cards) for player in players}
    # The one folds to the first bet what they have raised before: the other has the chips.
    round_id = await driver.play(players, "r300 c f r500 f")
    await driver.ended(victim, round_id)

    reference = await complain(driver, victim, round_id, "They play together.")

    # What the victim cannot see, the operator does: who had which cards, and what they did with them.
    own = tomllib.loads(await driver.poker.export(victim.player_id, table_id, round_id))["actions"]
    assert not any(cards[each.player_id] in action for each in (giving, taking) for action in own)
    hand = await whole_hand(driver, table_id, (await complaint(driver, reference)).round_id)
    at = {player_id: f"p{position}" for position, player_id in enumerate(hand["players"], 1)}
    assert {f"d dh {at[player_id]} {hole}" for player_id, hole in cards.items()} <= set(hand["actions"])
    one, other = at[giving.player_id], at[taking.player_id]
    decisions = [action for action in hand["actions"] if action.startswith("p")]
    assert decisions == [f"{one} cbr 300", f"{other} cc", f"{at[victim.player_id]} f", f"{other} cbr 500", f"{one} f"]

    # Both are out while the result is still shown, with what the hand has left them.
    won = 700 - 35 - 300
    for partner, lost in ((giving, 300), (taking, -won)):
        await shut_out(driver, partner)
        await is_out(driver, partner, lost)
    table = await driver.table(table_id)
    assert (table.phase, [cave.seat for cave in table.caves]) == (types_pb2.PHASE_RESULT_SHOWN, [victim.seat])
    await answer(driver, reference, "They are excluded.")
    # The victim plays on with others.
    newcomer = await driver.seat_new_player(table_id)
    await driver.buy_in(newcomer, 5_000)
    following = await driver.next_hand(table_id, round_id)
    assert {seat.seat for seat in following.view.seats} == {victim.seat, newcomer.seat}


async def shut_out_in_turn(driver: PokerDriver, out: SeatedPlayer, others: Sequence[SeatedPlayer], after: str) -> str:
    """Shuts a player out in the hand after one in which they had the big blind; returns it when it has ended.

    They have the small blind now, and it is their turn: nobody waits for them, and the others play on.
    """
    table_id = out.table_id
    round_id = (await driver.next_hand(table_id, after)).round_id
    await driver.play(others, "c")
    playing = await driver.playing(table_id)
    assert playing.seat == out.seat

    await shut_out(driver, out)

    await driver.turn_over(table_id, playing)
    with pytest.raises(grpc.aio.AioRpcError) as late:
        await driver.act(out, playing, CALL)
    assert refusal_of(late.value).reason == "TURN_OVER"
    await driver.play(others, "c f")
    await driver.ended(others[0], round_id)
    assert on_whose_word((await recorded(driver, round_id))[out.seat]) == ["ACTED_BY_AWAY"]
    return round_id


def on_whose_word(moves: Sequence[table_pb2.RecordedMove]) -> list[str]:
    return [types_pb2.ActedBy.Name(move.acted_by) for move in moves]


@BOTH
@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:11.f", "811/2015:11.f")
async def test_who_lets_a_program_decide_is_out_in_the_middle_of_a_hand(driver: PokerDriver, regulation: str) -> None:
    aid = "tabela de probabilidades"
    players = await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=POT, allowed_aids=[aid])
    table_id = players[0].table_id
    # What is allowed is said to anybody; everything else is forbidden.
    request = table_pb2.GetRulesRequest(table_id=table_id, language="pt")
    text = " ".join((await driver.poker.tables.GetRules(request)).text.split())
    assert f"só pode usar estas ajudas: {aid}." in text
    assert "Usar um programa que decida por si, ou que esteja na lista dos proibidos." in text
    first = await driver.playing(table_id)
    bot = next(player for player in players if player.seat == first.view.big_blind)
    others = [player for player in players if player != bot]
    round_id = await driver.play(players, "c c c r100 f f")
    await driver.ended(bot, round_id)

    reference = await complain(driver, others[0], round_id, "Nobody decides as quickly as that, every time.")

    # The operator sees on whose word each decision was made, and when: what a program does looks like no person.
    by_seat = await recorded(driver, round_id)
    assert on_whose_word(by_seat[bot.seat]) == ["ACTED_BY_PLAYER"] * 2
    moves = sorted((move for moves in by_seat.values() for move in moves), key=lambda move: move.position)
    times = [move.made_at.ToNanoseconds() for move in moves]
    assert times == sorted(set(times))
    await shut_out_in_turn(driver, bot, others, round_id)
    await is_out(driver, bot, 150)
    await answer(driver, reference, "The player is excluded.")


@BOTH
@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:11.g", "811/2015:11.g")
async def test_who_holds_the_others_up_is_on_record_and_out(driver: PokerDriver, regulation: str) -> None:
    players = await driver.begin(
        5_000, 5_000, 5_000, regulation=regulation, limit=POT, time_bank_s=0, disconnect_extra_s=0
    )
    table_id = players[0].table_id
    first = await driver.playing(table_id)
    idler = next(player for player in players if player.seat == first.view.big_blind)
    others = [player for player in players if player != idler]
    for actions in ("c c", "r100"):
        await driver.play(others, actions)
        held_up = await driver.playing(table_id)
        assert held_up.seat == idler.seat
        # The table waits no longer than for as long as everybody has to decide.
        await driver.poker.advance_tables(DECISION_S)
        await driver.turn_over(table_id, held_up)
    round_id = await driver.play(others, "f")
    await driver.ended(idler, round_id)

    reference = await complain(driver, others[0], round_id, "We wait for nobody, in every hand.")

    assert on_whose_word((await recorded(driver, round_id))[idler.seat]) == ["ACTED_BY_CLOCK"] * 2
    await shut_out_in_turn(driver, idler, others, round_id)
    await is_out(driver, idler, 150)
    await answer(driver, reference, "The player is excluded.")
