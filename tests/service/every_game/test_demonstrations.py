"""Demonstrations: the same tables as for money, open to anybody, for credits that never become anything else."""

from __future__ import annotations

from uuid import uuid4

import pytest

from feltro.wallet.v1 import wallet_pb2
from tests.processes.wallet import DEMO
from tests.service.every_game.platform import CENTS, INDIVIDUAL, PlayedGame, Player, balance, rounds
from tests.service.refusals import refusal

CREDITS = 100_000


async def play_for_credits(game: PlayedGame, player_id: str, table_id: str) -> tuple[Player, int]:
    """Plays a round at a demonstration table; the guest and what the round has won or lost."""
    guest = await game.enter(player_id, table_id)
    assert await balance(game, guest) == (CREDITS, 0)
    round_id = await game.open_round(guest)
    await game.bet(guest, round_id)
    await game.draw(guest, round_id)
    (played,) = (each for each in await rounds(game, guest) if each.round.round_id == round_id)
    assert played.staked_cents >= game.stake_cents
    return guest, played.payout_cents - played.staked_cents


@pytest.mark.rule("806/2015:74", "806/2015:75")
@pytest.mark.rule("805/2015:37", "805/2015:38", "812/2015:37", "812/2015:38", "903-B/2015:6.1.3")
async def test_a_guest_without_an_account_plays_for_credits_that_are_never_paid_out(game: PlayedGame) -> None:
    table_id = await game.new_table(play=INDIVIDUAL, mode=DEMO)

    guest, won_cents = await play_for_credits(game, f"guest-{uuid4()}", table_id)

    assert await balance(game, guest) == (CREDITS + won_cents, 0)
    assert (await game.wallet.balance(guest.account_id)).mode == DEMO
    request = wallet_pb2.WithdrawRequest(request_id=str(uuid4()), account_id=guest.account_id, amount_cents=1)
    refused = await refusal(game.wallet.wallet.Withdraw(request, metadata=game.wallet.operator))
    assert (refused.reason, refused.facts["account_mode"]) == ("MODE_MISMATCH", "MODE_DEMO")


@pytest.mark.rule("805/2015:38", "806/2015:75", "812/2015:38")
async def test_credits_and_money_of_one_player_never_meet(game: PlayedGame) -> None:
    for_money = await game.sit_down(await game.new_table(play=INDIVIDUAL))

    guest, _ = await play_for_credits(game, for_money.player_id, await game.new_table(play=INDIVIDUAL, mode=DEMO))

    assert guest.account_id != for_money.account_id
    assert await balance(game, for_money) == (CENTS, 0)


@pytest.mark.rule("805/2015:37", "806/2015:74", "812/2015:37", "903-B/2015:6.1.3")
async def test_a_demonstration_has_the_layout_and_the_rules_of_the_table_for_money(game: PlayedGame) -> None:
    layouts = [await game.layout(await game.new_table(play=INDIVIDUAL, **mode)) for mode in ({}, {"mode": DEMO})]
    assert layouts[0] == layouts[1]
