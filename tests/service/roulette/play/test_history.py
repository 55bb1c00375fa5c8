"""Past rounds: the last one that a player took part in, and all before it, page after page."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.engine.roulette import reference
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    RouletteDriver,
    table_rules,
    unpack_bets,
    unpack_outcome,
)

CENTS = 100_000
BETS = {"17": 100, "red": 500}


@pytest.mark.rule("804/2015:24", "807/2015:26", "903-B/2015:6.3.4")
async def test_t16_the_last_round_is_the_last_in_which_this_player_took_part(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    first = await driver.bet(seated_player, round_id, BETS)
    second = await driver.bet(seated_player, round_id, {"dozen-1": 200})
    spun = await driver.spin(seated_player, round_id)
    # Neither another player's rounds count nor a round in which the player does not bet.
    other = await driver.seat_new_player(INDIVIDUAL_TABLES[regulation])
    await driver.play(other, {"black": 100})
    await driver.wait_for_open_round(seated_player)

    (player_round,) = await driver.rounds(seated_player, page_size=1)

    assert (player_round.round.round_id, player_round.table_id, player_round.session_id) == (
        round_id,
        seated_player.table_id,
        seated_player.session_id,
    )
    assert player_round.regulation == f"{regulation}/2015"
    assert player_round.round.state == wallet_types.ROUND_STATE_SETTLED
    assert unpack_outcome(player_round.round.outcome) == spun.outcome
    assert [stake.stake_id for stake in player_round.stakes] == [first.stake.stake_id, second.stake.stake_id]
    assert [unpack_bets(stake.bets) for stake in player_round.stakes] == [BETS, {"dozen-1": 200}]
    assert [stake.placed_at for stake in player_round.stakes] == [first.stake.placed_at, second.stake.placed_at]
    for stake, bets in zip(player_round.stakes, (BETS, {"dozen-1": 200}), strict=True):
        results = roulette_pb2.BetResults()
        assert stake.results.Unpack(results)
        assert {result.place: result.payout_cents for result in results.results} == {
            place: reference.payout({place: cents}, spun.outcome.number) for place, cents in bets.items()
        }
        assert stake.payout_cents == reference.payout(bets, spun.outcome.number)
    assert (player_round.staked_cents, player_round.payout_cents) == (800, spun.payout_cents)
    assert (player_round.balance_before_cents, player_round.balance_after_cents) == (
        CENTS,
        CENTS - 800 + spun.payout_cents,
    )
    round_ = player_round.round
    moments = [driver.ledger_ns(round_.opened_at), first.stake.placed_at.ToNanoseconds()]
    moments += [second.stake.placed_at.ToNanoseconds(), driver.ledger_ns(round_.drawn_at)]
    moments += [round_.ended_at.ToNanoseconds()]
    assert moments == sorted(moments)


async def test_a_players_rounds_are_listed_newest_first_in_pages(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    played = [(await driver.play(seated_player, {"red": 100})).round_id for _ in range(5)]

    found: list[str] = []
    token, pages = "", 0
    while token or not pages:
        page = await driver.roulette.rounds(seated_player.player_id, page_size=2, page_token=token)
        found += [player_round.round.round_id for player_round in page.rounds]
        token, pages = page.next_page_token, pages + 1

    assert found == played[::-1]
    assert pages == 3


async def test_a_tables_rounds_are_listed_in_pages_without_players(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    played = [await driver.play(seated_player, {"red": 100}) for _ in range(3)]
    void = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, void, {"red": 100})
    await driver.void(seated_player.table_id, void, "the wheel stands still")

    found: list[table_pb2.TableRound] = []
    token, pages = "", 0
    while token or not pages:
        request = table_pb2.ListTableRoundsRequest(table_id=seated_player.table_id, page_size=2, page_token=token)
        page = await driver.roulette.tables.ListTableRounds(request, metadata=driver.metadata_of(seated_player))
        found += page.rounds
        token, pages = page.next_page_token, pages + 1

    assert [round_.round_id for round_ in found] == [void, *(each.round_id for each in played[::-1])]
    assert (found[0].state, found[0].void_reason) == (wallet_types.ROUND_STATE_VOID, "the wheel stands still")
    assert [unpack_outcome(round_.outcome) for round_ in found[1:]] == [each.outcome for each in played[::-1]]
    assert {round_.configuration_version for round_ in found} == {1}


@pytest.mark.rule("903-B/2015:6.1.5")
@pytest.mark.guarantee("G10")
async def test_rounds_are_read_by_the_rules_that_they_were_played_by(driver: RouletteDriver) -> None:
    """The wheel changes twice, each time while a bet lies on the felt, and every read still knows each outcome."""
    zeros = {roulette_pb2.WHEEL_AMERICAN_38: ("0", "00"), roulette_pb2.WHEEL_AMERICAN_37: ("0",)}
    wheels = [roulette_pb2.WHEEL_AMERICAN_38, roulette_pb2.WHEEL_AMERICAN_37, roulette_pb2.WHEEL_AMERICAN_38]
    table_id = await driver.new_table(wheel=wheels[0], play=INDIVIDUAL)
    player = await driver.seat_new_player(table_id, 10_000_000)
    played: list[roulette_pb2.SpinResponse] = []
    for wheel, next_wheel in zip(wheels, [*wheels[1:], None], strict=True):
        # Most pockets hold other numbers than on the other wheel.
        for last in (False, False, False, True):
            round_id = await driver.wait_for_open_round(player)
            await driver.bet(player, round_id, dict.fromkeys((*zeros[wheel], *map(str, range(1, 37))), 100))
            if last and next_wheel is not None:
                await driver.roulette.configure(table_id, table_rules(wheel=next_wheel, play=INDIVIDUAL))
            spun = await driver.spin(player, round_id)
            # Every number has the same bet, so one of them wins.
            assert spun.payout_cents == sum(result.payout_cents for result in spun.results.results) == 3_600
            played.append(spun)

    request = table_pb2.ListTableRoundsRequest(table_id=player.table_id, page_size=50)
    listed = (await driver.roulette.tables.ListTableRounds(request, metadata=driver.metadata_of(player))).rounds
    own = await driver.rounds(player, page_size=50)

    assert [unpack_outcome(each.outcome) for each in listed] == [each.outcome for each in played[::-1]]
    assert [each.configuration_version for each in listed] == [3] * 4 + [2] * 4 + [1] * 4
    assert [unpack_outcome(each.round.outcome) for each in own] == [each.outcome for each in played[::-1]]
    for each in played:
        replay = table_pb2.ReplayRoundRequest(game="roulette", round_id=each.round_id)
        replayed = await driver.roulette.tables.ReplayRound(replay, metadata=driver.roulette.operator)
        assert not replayed.differences
        assert unpack_outcome(replayed.computed_outcome) == each.outcome


async def test_an_open_round_is_not_yet_a_past_round(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"red": 100})
    # The bet is on the felt, and locked in the wallet (903-B/2015:6.3.2).
    assert await driver.rounds(seated_player) == []
    assert await driver.rounds(seated_player, open_only=True) == []
    assert (await driver.get_table(seated_player)).own_seat.stakes[0].amount_cents == 100


@pytest.mark.rule("GLI-19 2.8.2", "903-B/2015:6.3.2", "903-B/2015:6.3.6.4")
async def test_a_round_in_progress_is_listed_from_its_first_bet_on(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    before = await driver.play(seated_player, BETS)
    round_id = await driver.wait_for_open_round(seated_player)
    assert await _with_open(driver, seated_player) == [before.round_id]
    first = await driver.bet(seated_player, round_id, BETS)
    second = await driver.bet(seated_player, round_id, {"dozen-1": 200})
    await driver.cancel_bets(seated_player, round_id, {"dozen-1": 200})

    (open_now, ended) = await driver.rounds(seated_player, include_taking_bets=True)

    assert ended.round.round_id == before.round_id
    assert (open_now.round.round_id, open_now.table_id) == (round_id, seated_player.table_id)
    assert open_now.round.state == wallet_types.ROUND_STATE_OPEN
    assert (open_now.session_id, open_now.staked_cents, open_now.payout_cents) == (seated_player.session_id, 600, 0)
    (stake,) = open_now.stakes
    assert (stake.stake_id, stake.placed_at) == (first.stake.stake_id, first.stake.placed_at)
    assert unpack_bets(stake.bets) == BETS
    for absent in ("closed_at", "drawn_at", "ended_at", "outcome"):
        assert not open_now.round.HasField(absent)
    assert not open_now.HasField("balance_before_cents")
    # It comes first on the first page, and only if it is asked for.
    page = await driver.roulette.rounds(seated_player.player_id, include_taking_bets=True, page_size=1)
    assert [player_round.round.round_id for player_round in page.rounds] == [round_id, before.round_id]
    assert await _with_open(driver, seated_player, table_id=seated_player.table_id) == [round_id, before.round_id]
    assert await _with_open(driver, seated_player, table_id="another") == []
    assert await _with_open(driver, seated_player, open_only=True) == [round_id]

    spun = await driver.spin(seated_player, round_id)
    (player_round, _) = await driver.rounds(seated_player, include_taking_bets=True)
    assert (player_round.round.round_id, player_round.round.state) == (round_id, wallet_types.ROUND_STATE_SETTLED)
    assert player_round.payout_cents == spun.payout_cents
    assert [cancelled.stake_id for cancelled in player_round.cancelled_stakes] == [second.stake.stake_id]


async def _with_open(driver: RouletteDriver, seated_player: SeatedPlayer, **more: object) -> list[str]:
    return [
        player_round.round.round_id
        for player_round in await driver.rounds(seated_player, include_taking_bets=True, **more)
    ]


@pytest.mark.rule("GLI-19 2.8.2", "903-B/2015:6.3.6.4")
async def test_a_round_has_the_times_of_its_phases_and_bets(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    kept = await driver.bet(seated_player, round_id, BETS)
    changed = await driver.bet(seated_player, round_id, {"dozen-1": 200, "odd": 100})
    await driver.cancel_bets(seated_player, round_id, {"dozen-1": 200})
    await driver.spin(seated_player, round_id)

    (player_round,) = await driver.rounds(seated_player)

    (cancelled,) = player_round.cancelled_stakes
    assert (cancelled.stake_id, cancelled.player_id, cancelled.amount_cents) == (
        changed.stake.stake_id,
        seated_player.player_id,
        200,
    )
    assert (cancelled.placed_at, unpack_bets(cancelled.bets)) == (changed.stake.placed_at, {"dozen-1": 200})
    # The part that stays is the same stake.
    assert [unpack_bets(stake.bets) for stake in player_round.stakes] == [BETS, {"odd": 100}]
    assert player_round.stakes[1].stake_id == changed.stake.stake_id
    moments = [
        driver.ledger_ns(player_round.round.opened_at),
        kept.stake.placed_at.ToNanoseconds(),
        cancelled.placed_at.ToNanoseconds(),
        cancelled.cancelled_at.ToNanoseconds(),
        driver.ledger_ns(player_round.round.closed_at),
        driver.ledger_ns(player_round.round.drawn_at),
        player_round.round.ended_at.ToNanoseconds(),
    ]
    assert moments == sorted(moments)
    assert moments[0] > 0
    replayed = await driver.roulette.replay(round_id)
    assert not replayed.differences
    assert replayed.cancelled_stakes == player_round.cancelled_stakes
    assert (replayed.round.closed_at, replayed.round.draw_trigger) == (
        player_round.round.closed_at,
        player_round.round.draw_trigger,
    )


@pytest.mark.rule("GLI-19 2.8.2", "903-B/2015:6.3.6.4")
async def test_a_void_round_is_listed_with_all_but_a_number(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)
    await driver.bet(seated_player, round_id, {"dozen-1": 200})
    await driver.cancel_bets(seated_player, round_id, {"dozen-1": 200})
    await driver.void(seated_player.table_id, round_id, "the wheel stands still")

    (player_round,) = await driver.rounds(seated_player)

    assert (player_round.round.state, player_round.round.void_reason) == (
        wallet_types.ROUND_STATE_VOID,
        "the wheel stands still",
    )
    assert player_round.round.draw_trigger == types_pb2.DRAW_TRIGGER_UNSPECIFIED
    assert not player_round.round.HasField("drawn_at")
    assert [cancelled.amount_cents for cancelled in player_round.cancelled_stakes] == [200]
    moments = [
        driver.ledger_ns(player_round.round.opened_at),
        player_round.stakes[0].placed_at.ToNanoseconds(),
        driver.ledger_ns(player_round.round.closed_at),
        player_round.round.ended_at.ToNanoseconds(),
    ]
    assert moments == sorted(moments)
    assert moments[0] > 0
    assert not (await driver.roulette.replay(round_id)).differences


async def test_an_unknown_page_token_is_refused(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    invented = "from the moon"
    token = await refusal(driver.rounds(seated_player, page_token=invented))
    size = await refusal(driver.rounds(seated_player, page_size=501))
    assert (token.reason, token.facts) == ("INVALID", {"field": "page_token"})
    assert (size.reason, size.facts) == ("INVALID", {"field": "page_size"})


@pytest.mark.guarantee("G10")
async def test_g10_a_round_is_replayed_from_the_journal(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    spun = await driver.play(seated_player, BETS)

    replayed = await driver.roulette.replay(spun.round_id)

    assert list(replayed.differences) == []
    assert unpack_outcome(replayed.computed_outcome) == unpack_outcome(replayed.round.outcome) == spun.outcome
    assert replayed.entropy
    (stake,) = replayed.stakes
    assert (stake.player_id, stake.amount_cents) == (seated_player.player_id, 600)
    paid = spun.payout_cents
    assert (stake.computed_payout_cents, stake.journal_payout_cents, stake.ledger_payout_cents) == (paid,) * 3
    assert replayed.configuration.version == 1


async def test_an_unknown_round_cannot_be_replayed(driver: RouletteDriver) -> None:
    refused = await refusal(driver.roulette.replay("never"))
    assert (refused.reason, refused.facts) == ("ROUND_UNKNOWN", {"round_id": "never"})


@pytest.mark.rule("804/2015:6.e", "807/2015:6.e")
async def test_a_table_shows_its_last_numbers_with_their_colours(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    played = [await driver.play(seated_player, {"red": 100}) for _ in range(23)]

    past = (await driver.get_table(seated_player)).table.past_outcomes

    assert [each.round_id for each in past] == [each.round_id for each in played[:-21:-1]]
    assert [unpack_outcome(each.outcome) for each in past] == [each.outcome for each in played[:-21:-1]]
    for each in past:
        outcome = unpack_outcome(each.outcome)
        expected = roulette_pb2.COLOUR_GREEN
        if reference.wins("red", outcome.number):
            expected = roulette_pb2.COLOUR_RED
        elif reference.wins("black", outcome.number):
            expected = roulette_pb2.COLOUR_BLACK
        assert outcome.colour == expected


@pytest.mark.rule("804/2015:26", "807/2015:28")
async def test_a12_the_session_ends_with_a_summary_of_bets_and_winnings(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    played = [await driver.play(seated_player, bets) for bets in ({"17": 100}, {"red": 1500}, {"18": 300})]
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 700})
    await driver.cancel_bets(seated_player, round_id)

    summary = (await driver.leave(seated_player)).summary

    won = sum(each.payout_cents for each in played)
    assert (summary.staked_cents, summary.payout_cents, summary.net_cents) == (1900, won, won - 1900)
    assert summary.rounds == 3
    assert await driver.balance(seated_player) == (CENTS - 1900 + won, 0)
