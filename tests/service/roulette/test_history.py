"""Looking rounds up: the last one a player took part in, and all before it, page after page."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from tests.engine.roulette import by_arithmetic
from tests.service.roulette.casino import HOUSES, Guest, Room, outcome_in, refusal, unpacked

CENTS = 100_000
BETS = {"17": 100, "red": 500}


@pytest.mark.rule("804/2015:24", "807/2015:26", "903-B/2015:6.3.4")
async def test_t16_the_last_round_is_the_last_in_which_this_player_took_part(
    room: Room, guest: Guest, regulation: str
) -> None:
    round_id = await room.open_round(guest)
    first = await room.bet(guest, round_id, BETS)
    second = await room.bet(guest, round_id, {"dozen-1": 200})
    spun = await room.spin(guest, round_id)
    # Rounds of others, and a round that he only looks at, are none of his.
    other = await room.guest(HOUSES[regulation])
    await room.play(other, {"black": 100})
    await room.open_round(guest)

    (lived,) = await room.rounds(guest, page_size=1)

    assert (lived.round.round_id, lived.table_id, lived.session_id) == (round_id, guest.table_id, guest.session_id)
    assert lived.regulation == f"{regulation}/2015"
    assert lived.round.status == types_pb2.ROUND_STATUS_SETTLED
    assert outcome_in(lived.round.outcome) == spun.outcome
    assert [stake.stake_id for stake in lived.stakes] == [first.stake.stake_id, second.stake.stake_id]
    assert [unpacked(stake.bets) for stake in lived.stakes] == [BETS, {"dozen-1": 200}]
    assert [stake.placed_at for stake in lived.stakes] == [first.stake.placed_at, second.stake.placed_at]
    for stake, bets in zip(lived.stakes, (BETS, {"dozen-1": 200}), strict=True):
        results = roulette_pb2.BetResults()
        assert stake.results.Unpack(results)
        assert {result.place: result.payout_cents for result in results.results} == {
            place: by_arithmetic.payout({place: cents}, spun.outcome.number) for place, cents in bets.items()
        }
        assert stake.payout_cents == by_arithmetic.payout(bets, spun.outcome.number)
    assert (lived.staked_cents, lived.payout_cents) == (800, spun.payout_cents)
    assert (lived.balance_before_cents, lived.balance_after_cents) == (CENTS, CENTS - 800 + spun.payout_cents)
    moments = [lived.round.opened_at, first.stake.placed_at, second.stake.placed_at]
    moments += [lived.round.drawn_at, lived.round.ended_at]
    assert [at.ToNanoseconds() for at in moments] == sorted(at.ToNanoseconds() for at in moments)


async def test_his_rounds_come_page_after_page_newest_first(room: Room, guest: Guest) -> None:
    played = [(await room.play(guest, {"red": 100})).round_id for _ in range(5)]

    found: list[str] = []
    token, pages = "", 0
    while token or not pages:
        page = await room.roulette.rounds(guest.player_id, page_size=2, page_token=token)
        found += [lived.round.round_id for lived in page.rounds]
        token, pages = page.next_page_token, pages + 1

    assert found == played[::-1]
    assert pages == 3


async def test_a_tables_rounds_come_page_after_page_without_its_players(room: Room, guest: Guest) -> None:
    played = [await room.play(guest, {"red": 100}) for _ in range(3)]
    void = await room.open_round(guest)
    await room.bet(guest, void, {"red": 100})
    await room.void(guest.table_id, void, "the wheel stands still")

    found: list[table_pb2.TableRound] = []
    token, pages = "", 0
    while token or not pages:
        request = table_pb2.ListTableRoundsRequest(table_id=guest.table_id, page_size=2, page_token=token)
        page = await room.roulette.tables.ListTableRounds(request, metadata=room.me(guest))
        found += page.rounds
        token, pages = page.next_page_token, pages + 1

    assert [round_.round_id for round_ in found] == [void, *(each.round_id for each in played[::-1])]
    assert (found[0].status, found[0].void_reason) == (types_pb2.ROUND_STATUS_VOID, "the wheel stands still")
    assert [outcome_in(round_.outcome) for round_ in found[1:]] == [each.outcome for each in played[::-1]]
    assert {round_.configuration_version for round_ in found} == {1}


async def test_a_round_that_takes_bets_is_not_yet_among_his_rounds(room: Room, guest: Guest) -> None:
    await room.bet(guest, await room.open_round(guest), {"red": 100})
    # It is on the felt, and in the wallet as what is locked (903-B/2015:6.3.2).
    assert await room.rounds(guest) == []
    assert await room.rounds(guest, incomplete_only=True) == []
    assert (await room.look(guest)).own.stakes[0].amount_cents == 100


async def test_a_page_that_was_never_given_out_is_refused(room: Room, guest: Guest) -> None:
    made_up = "from the moon"
    token = await refusal(room.rounds(guest, page_token=made_up))
    size = await refusal(room.rounds(guest, page_size=501))
    assert (token.reason, token.facts) == ("INVALID", {"field": "page_token"})
    assert (size.reason, size.facts) == ("INVALID", {"field": "page_size"})


@pytest.mark.guarantee("G10")
async def test_a_round_is_computed_again_from_the_journal(room: Room, guest: Guest) -> None:
    spun = await room.play(guest, BETS)

    replayed = await room.roulette.replay(spun.round_id)

    assert list(replayed.differences) == []
    assert outcome_in(replayed.computed_outcome) == outcome_in(replayed.round.outcome) == spun.outcome
    assert replayed.entropy
    (stake,) = replayed.stakes
    assert (stake.player_id, stake.amount_cents) == (guest.player_id, 600)
    paid = spun.payout_cents
    assert (stake.computed_payout_cents, stake.journal_payout_cents, stake.ledger_payout_cents) == (paid,) * 3
    assert replayed.configuration.version == 1


async def test_a_round_that_never_was_cannot_be_computed(room: Room) -> None:
    refused = await refusal(room.roulette.replay("never"))
    assert (refused.reason, refused.facts) == ("ROUND_UNKNOWN", {"round_id": "never"})


@pytest.mark.rule("804/2015:6.e", "807/2015:6.e")
async def test_the_table_shows_its_last_numbers_with_their_colours(room: Room, guest: Guest) -> None:
    played = [await room.play(guest, {"red": 100}) for _ in range(23)]

    past = (await room.look(guest)).table.past

    assert [each.round_id for each in past] == [each.round_id for each in played[:-21:-1]]
    assert [outcome_in(each.outcome) for each in past] == [each.outcome for each in played[:-21:-1]]
    for each in past:
        outcome = outcome_in(each.outcome)
        expected = roulette_pb2.COLOUR_GREEN
        if by_arithmetic.wins("red", outcome.number):
            expected = roulette_pb2.COLOUR_RED
        elif by_arithmetic.wins("black", outcome.number):
            expected = roulette_pb2.COLOUR_BLACK
        assert outcome.colour == expected


@pytest.mark.rule("804/2015:26", "807/2015:28")
async def test_a12_at_the_end_he_learns_what_he_bet_and_what_it_came_to(room: Room, guest: Guest) -> None:
    played = [await room.play(guest, bets) for bets in ({"17": 100}, {"red": 1500}, {"18": 300})]
    round_id = await room.open_round(guest)
    await room.bet(guest, round_id, {"17": 700})
    await room.take_back(guest, round_id)

    summary = (await room.leave(guest)).summary

    won = sum(each.payout_cents for each in played)
    assert (summary.staked_cents, summary.won_cents, summary.net_cents) == (1900, won, won - 1900)
    assert summary.rounds == 3
    assert await room.balance(guest) == (CENTS - 1900 + won, 0)
