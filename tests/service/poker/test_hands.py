"""Hands from the blinds to the payment: at the showdown, by folds, with their commission, and with every chip there."""

from __future__ import annotations

import pytest

from feltro.poker.v1 import poker_pb2
from services.kit.cards.card import Card
from tests.processes.poker import OMAHA
from tests.service.poker.platform import MONEY_CENTS, PokerDriver, outcome_of


@pytest.mark.rule("806/2015:1", "806/2015:4.a", "806/2015:17.a", "806/2015:60", "806/2015:65")
@pytest.mark.guarantee("G1")
async def test_a_hand_is_played_to_its_showdown_and_every_chip_is_there(driver: PokerDriver) -> None:
    players = await driver.begin(5_000, 5_000, 10_000)

    played = await driver.play_to_showdown(players)

    outcome = outcome_of(played)
    # Three big blinds, and 5 % of them for the house, of each payment.
    assert outcome.commission_cents in {14, 15}
    assert len(outcome.view.board) == 5
    assert [each.staked_cents for each in outcome.results] == [100, 100, 100]
    caves = await driver.caves(players[0].table_id)
    assert sum(caves.values()) == 20_000 - outcome.commission_cents
    brought = {1: 5_000, 2: 5_000, 3: 10_000}
    assert caves == {each.seat: brought[each.seat] - each.staked_cents + each.won_cents for each in outcome.results}
    for seat in outcome.view.seats:
        assert len(seat.cards) == 2
        assert seat.combination
        assert len(seat.best_cards) == 5
    shown = [*outcome.view.board, *(card for seat in outcome.view.seats for card in seat.cards)]
    assert len(set(shown)) == len(shown) == 11
    assert all(Card.named(name) for name in shown)


@pytest.mark.rule("806/2015:18", "806/2015:34.a", "806/2015:42")
async def test_a_hand_that_everybody_folds_before_the_flop_pays_no_commission(driver: PokerDriver) -> None:
    players = await driver.begin(5_000, 5_000, 5_000)
    table_id = players[0].table_id

    round_id = await driver.play(players, "r300 f f")

    outcome = outcome_of(await driver.ended(players[0], round_id))
    assert outcome.commission_cents == 0
    # What nobody called came back: the winner has won the blinds.
    assert sorted(await _changes(driver, table_id, 5_000)) == [-100, -50, 150]
    assert not any(seat.cards for seat in outcome.view.seats)


@pytest.mark.rule("806/2015:24.c", "806/2015:36", "806/2015:39")
async def test_two_players_bet_everything_and_the_board_is_run_out(driver: PokerDriver) -> None:
    players = await driver.begin(2_000, 10_000)

    first = await driver.playing(players[0].table_id)
    round_id = await driver.play(players, f"r{first.legal.max_to_cents} c")

    outcome = outcome_of(await driver.ended(players[0], round_id))
    assert {each.staked_cents for each in outcome.results} == {2_000}
    assert len(outcome.view.board) == 5
    assert outcome.commission_cents in {200, 199}
    assert sum((await driver.caves(players[0].table_id)).values()) == 12_000 - outcome.commission_cents


@pytest.mark.rule("811/2015:1", "811/2015:24.b", "811/2015:17.a")
async def test_omaha_is_dealt_with_four_cards_and_bets_up_to_the_pot(driver: PokerDriver) -> None:
    players = await driver.begin(5_000, 5_000, regulation=OMAHA, limit=poker_pb2.LIMIT_POT)
    table_id = players[0].table_id
    first = await driver.playing(table_id)
    assert {len((await driver.own_view(player)).cards) for player in players} == {4}
    # To call 50 makes a pot of 200, by which the bet of 100 may be raised.
    assert first.legal == poker_pb2.Legal(seat=first.seat, to_call_cents=50, min_to_cents=200, max_to_cents=300)

    outcome = outcome_of(await driver.play_to_showdown(players))
    assert outcome.commission_cents == 10
    assert {len(seat.cards) for seat in outcome.view.seats} == {4}


@pytest.mark.rule("806/2015:64", "806/2015:46", "806/2015:48")
async def test_the_button_moves_to_the_next_seat_after_each_hand(driver: PokerDriver) -> None:
    players = await driver.begin(10_000, 10_000, 10_000)
    table_id = players[0].table_id
    buttons, round_id = list[int](), ""
    for _ in range(4):
        playing = await driver.playing(table_id) if not round_id else await driver.next_hand(table_id, round_id)
        buttons.append(playing.view.button)
        assert playing.view.small_blind == playing.view.button % 3 + 1
        assert playing.view.big_blind == playing.view.small_blind % 3 + 1
        round_id = await driver.play(players, "f f")
        await driver.ended(players[0], round_id)

    assert [seat % 3 + 1 for seat in buttons[:-1]] == buttons[1:]


@pytest.mark.rule("806/2015:17.a", "806/2015:16")
@pytest.mark.guarantee("G1")
async def test_the_commission_is_the_houses(driver: PokerDriver) -> None:
    """The audit at the end of this folder adds all accounts up; here it is what the players have lost together."""
    players = await driver.begin(10_000, 10_000)
    played = await driver.play_to_showdown(players)

    for player in players:
        await driver.leave(player)
    await driver.end_result(players[0].table_id)
    for player in players:
        await driver.session_ended(player)

    left = sum([await driver.balance(player) for player in players])
    assert 2 * MONEY_CENTS - left == outcome_of(played).commission_cents > 0


async def _changes(driver: PokerDriver, table_id: str, brought: int) -> list[int]:
    return [cents - brought for cents in (await driver.caves(table_id)).values()]
