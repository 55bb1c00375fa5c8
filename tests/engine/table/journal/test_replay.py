"""A round with decisions is explained by its entropy and its decisions, and whatever was altered is named (G10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.randomness.tape import TapeExhausted
from services.kit.table.journal.entries import Drawn, Ended, Ending, JournalStake, Moved, Paid
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.replay import pages
from services.kit.table.journal.replay.computation import RoundReplay
from services.kit.table.journal.replay.hands import MovedInLedger
from tests.card_guess import ACE, KING, GuessRound, messages, move
from tests.card_guess_records import RULES, deal, entropy_where, ledger_round, recorded_round

BETS = {1: 200, 2: 400, 3: 600}


def _suits(round_: GuessRound) -> bool:
    """Seat 3 has a king and the bank an ace."""
    ranks = {seat: cards[0] // 4 for seat, cards in round_.hands.items()}
    return round_.deck[0] // 4 == ACE and ranks[3] == KING and KING not in (ranks[1], ranks[2]) and ranks[1] != ACE


ENTROPY = entropy_where(BETS, _suits)
DECISIONS = [(2, "decline"), (1, "cover"), (1, "card"), (1, "raise"), (1, "lower"), (2, "give_up")]


@pytest.fixture
def record() -> RoundRecord:
    return recorded_round(ENTROPY, BETS, DECISIONS)


def replay(record: RoundRecord, **changes: object) -> table_pb2.ReplayRoundResponse:
    """Replays against an honest ledger, or another one."""
    ledger = changes.get("ledger", ledger_round(record))
    return RoundReplay(record, types_pb2.ConfigurationVersion(), RULES, ledger).compute()  # type: ignore[arg-type]


def differences(record: RoundRecord) -> list[str]:
    return list(replay(record).differences)


def drawn_of(record: RoundRecord) -> Drawn:
    assert record.drawn is not None
    return record.drawn


def ended_of(record: RoundRecord) -> Ended:
    assert record.ended is not None
    return record.ended


@pytest.mark.guarantee("G10")
def test_g10_a_round_with_decisions_agrees_to_the_last_cent(record: RoundRecord) -> None:
    answer = replay(record)
    assert list(answer.differences) == []
    # The bank has an ace: the cover pays three times, and the guess `lower` is right unless the card is an ace, too.
    paid = {stake.stake_id: stake.computed_payout_cents for stake in answer.stakes}
    assert paid["guess.1:1.cover"] == 300
    assert paid["guess.1:1"] == paid["guess.1:1.raise"]
    assert paid["guess.1:2"] == 200
    assert paid["guess.1:3"] == 1_200
    assert [(each.position, [stake for stake, _ in each.payouts]) for each in record.paid] == [
        (0, ["guess.1:3"]),
        (6, ["guess.1:2"]),
    ]
    assert [
        (each.position, each.seat, messages["Move"].FromString(each.move.value).decision, each.acted_by, each.stake_id)
        for each in answer.moves
    ] == [
        (1, 2, "decline", types_pb2.ACTED_BY_PLAYER, ""),
        (2, 1, "cover", types_pb2.ACTED_BY_PLAYER, "guess.1:1.cover"),
        (3, 1, "card", types_pb2.ACTED_BY_PLAYER, ""),
        (4, 1, "raise", types_pb2.ACTED_BY_PLAYER, "guess.1:1.raise"),
        (5, 1, "lower", types_pb2.ACTED_BY_PLAYER, ""),
        (6, 2, "give_up", types_pb2.ACTED_BY_PLAYER, ""),
    ]
    assert answer.entropy == ENTROPY
    assert answer.computed_outcome.value == ended_of(record).outcome
    assert answer.round.outcome == answer.computed_outcome
    first = pages.page(answer, "")
    assert (list(first.moves), first.next_page_token) == (list(answer.moves), "")


def with_move(record: RoundRecord, position: int, change: Callable[[Moved], Moved]) -> RoundRecord:
    return replace(record, moves=[change(each) if each.position == position else each for each in record.moves])


def with_ended(record: RoundRecord, change: Callable[[Ended], Ended]) -> RoundRecord:
    return replace(record, ended=change(ended_of(record)))


def with_paid(record: RoundRecord, index: int, change: Callable[[Paid], Paid]) -> RoundRecord:
    return replace(record, paid=[change(each) if at == index else each for at, each in enumerate(record.paid)])


def made(move_: Moved) -> JournalStake:
    assert move_.stake is not None
    return move_.stake


def _altered(place: int) -> bytes:
    return ENTROPY[:place] + bytes([ENTROPY[place] ^ 1]) + ENTROPY[place + 1 :]


def _decides_a_card(place: int) -> bool:
    """Whether a byte decides a card that the round has shown; the others decide what nobody was dealt."""
    try:
        return deal(_altered(place), BETS).deck[:5] != deal(ENTROPY, BETS).deck[:5]
    except TapeExhausted:
        return True


DECIDING = [place for place in range(len(ENTROPY)) if _decides_a_card(place)]


@pytest.mark.guarantee("G10")
def test_g10_another_byte_of_entropy_is_noticed(record: RoundRecord) -> None:
    assert len(DECIDING) >= 5
    for place in DECIDING:
        assert differences(replace(record, drawn=replace(drawn_of(record), entropy=_altered(place)))), place


@pytest.mark.guarantee("G10")
def test_g10_entropy_of_another_length_is_noticed(record: RoundRecord) -> None:
    for entropy, sentence in (
        (ENTROPY[:-1], "the entropy in the journal is too short for a draw"),
        (ENTROPY + b"\0", f"the draw uses {len(ENTROPY)} of {len(ENTROPY) + 1} bytes of entropy"),
    ):
        assert sentence in differences(replace(record, drawn=replace(drawn_of(record), entropy=entropy)))


@pytest.mark.guarantee("G10")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda record: with_move(record, 5, lambda each: replace(each, move=move("higher"))),
            "another outcome than the journal has",
        ),
        (
            lambda record: with_move(record, 4, lambda each: replace(each, seat=2)),
            "decision 4 is not possible by the rules",
        ),
        (
            lambda record: replace(record, moves=record.moves[:-1]),
            "settled after 5 decisions, and seat 2 may still decide",
        ),
        (
            lambda record: with_move(record, 4, lambda each: replace(each, stake=None)),
            "decision 4 costs 200 cents, and has no stake",
        ),
        (
            lambda record: with_move(
                record, 4, lambda each: replace(each, stake=made(each)._replace(amount_cents=100))
            ),
            "decision 4 costs 200 cents, and has a stake of 100",
        ),
        (
            lambda record: with_move(
                record,
                4,
                lambda each: replace(each, stake=made(each)._replace(bets=drawn_of(record).stakes[0].bets)),
            ),
            "decision 4: stake guess.1:1.raise has other bets than the rules give it",
        ),
        (
            lambda record: with_move(record, 3, lambda each: replace(each, stake=record.moves[1].stake)),
            "decision 3 costs nothing, and has stake guess.1:1.cover",
        ),
        (
            lambda record: with_ended(
                record, lambda each: replace(each, payouts=[*each.payouts[:-1], ("guess.1:1.raise", 1)])
            ),
            "computed, 1 in the journal",
        ),
        (
            lambda record: with_ended(
                record,
                lambda each: replace(
                    each, outcome=RULES.outcome_message(deal(ENTROPY, {}).outcome).SerializeToString()
                ),
            ),
            "the entropy and the decisions give another outcome than the journal has",
        ),
        (
            lambda record: with_ended(record, lambda each: replace(each, ending=Ending.VOID, outcome=None)),
            "void in the journal, although it was drawn",
        ),
        (
            lambda record: with_paid(record, 1, lambda each: replace(each, position=5)),
            "stake guess.1:2: paid after 5 decisions, when the rules had not decided it",
        ),
        (
            lambda record: with_paid(record, 1, lambda each: replace(each, payouts=[("guess.1:2", 201)])),
            "stake guess.1:2: 200 due early, 201 paid early",
        ),
        (
            lambda record: with_paid(record, 1, lambda each: replace(each, payouts=[("guess.1:1", 201)])),
            "stake guess.1:1: paid after 6 decisions, when the rules had not decided it",
        ),
    ],
)
def test_g10_what_was_altered_is_named(
    record: RoundRecord, change: Callable[[RoundRecord], RoundRecord], sentence: str
) -> None:
    found = differences(change(record))
    assert any(sentence in each for each in found), found


@pytest.mark.guarantee("G10")
def test_g10_a_ledger_that_says_otherwise_is_named(record: RoundRecord) -> None:
    for position, stake_id in enumerate(stake.stake_id for stake in record.stakes):
        ledger = ledger_round(record)
        ledger.stakes[position].payout_cents += 1
        found = list(replay(record, ledger=ledger).differences)
        assert [each for each in found if stake_id in each and "in the ledger" in each], found
    ledger = ledger_round(record)
    del ledger.stakes[-1]
    assert "stake guess.1:1.raise: not in the ledger" in replay(record, ledger=ledger).differences
    ledger = ledger_round(record)
    ledger.stakes[0].placed_cents += 1
    assert list(replay(record, ledger=ledger).differences) == [
        "stake guess.1:1: 200 in the journal, another in the ledger"
    ]
    ledger = ledger_round(record)
    ledger.stakes[0].detail = ledger.stakes[1].detail
    assert list(replay(record, ledger=ledger).differences) == [
        "stake guess.1:1: other bets in the journal than in the ledger"
    ]
    assert "the ledger does not know the round" in replay(record, ledger=None).differences


@pytest.mark.guarantee("G10")
def test_g10_entropy_that_nobody_can_read_explains_nothing(record: RoundRecord) -> None:
    sealed = replace(record, drawn=replace(drawn_of(record), sealed_with="2026-11"))
    answer = replay(sealed)
    assert "the entropy cannot be read: key 2026-11 is missing or wrong" in answer.differences
    assert answer.entropy == b""
    # Before its end the entropy of a round is sealed, as it has to be.
    assert list(replay(replace(_decided_so_far(sealed, 2), drawn=sealed.drawn)).differences) == []


# -- hands: their money is in caves, or they are played for chips ------------------------------------------------------


def moved_by(record: RoundRecord) -> MovedInLedger:
    """Returns what an honest ledger has moved if the round was a hand between players."""
    payouts = record.payouts
    by_account: dict[str, int] = {}
    for stake in record.stakes:
        moved = payouts[stake.stake_id] - stake.amount_cents
        by_account[stake.account_id] = by_account.get(stake.account_id, 0) + moved
    return MovedInLedger(by_account, -sum(by_account.values()))


@pytest.fixture
def hand() -> RoundRecord:
    """A round in which every player has one stake, as every hand is."""
    return recorded_round(ENTROPY, BETS, [(2, "decline"), (1, "decline"), (1, "lower"), (2, "give_up")])


def hand_differences(record: RoundRecord, moved: MovedInLedger) -> list[str]:
    ledger = wallet_pb2.Round(
        round_id=record.opened.round_id,
        state=wallet_types.ROUND_STATE_OPEN if record.ended is None else wallet_types.ROUND_STATE_SETTLED,
    )
    configuration = types_pb2.TableConfiguration(play=wallet_types.PLAY_POKER)
    version = types_pb2.ConfigurationVersion(configuration=configuration)
    return list(RoundReplay(record, version, RULES, ledger, moved).compute().differences)


@pytest.mark.guarantee("G10")
def test_g10_a_hand_that_has_moved_other_money_in_the_ledger_is_named(hand: RoundRecord) -> None:
    honest = moved_by(hand)
    assert any(honest.by_account.values())
    account_id, cents = next(iter(honest.by_account.items()))
    commission = honest.others_cents

    def moved(others_cents: int = commission, **changed: int) -> MovedInLedger:
        return MovedInLedger({**honest.by_account, **changed}, others_cents)

    stakes_elsewhere = [each for each in hand_differences(hand, honest) if "cave" in each or "commission" in each]
    assert stakes_elsewhere == []
    for altered, sentence in (
        (moved(**{account_id: cents + 1}), f"the cave of {account_id}: {cents} computed, {cents + 1} moved"),
        (moved(stranger=5), "the cave of stranger: 0 computed, 5 moved in the ledger"),
        (moved(commission + 1), f"commission: {commission} computed, {commission + 1} moved in the ledger"),
    ):
        found = hand_differences(hand, altered)
        assert any(sentence in each for each in found), found


@pytest.mark.guarantee("G10")
def test_g10_a_hand_that_has_not_ended_may_have_moved_nothing_yet(hand: RoundRecord) -> None:
    under_way = _decided_so_far(hand, 2)
    assert hand_differences(under_way, MovedInLedger({})) == []
    assert hand_differences(under_way, moved_by(hand)) == []


@pytest.mark.guarantee("G1", "G10")
def test_g10_a_hand_for_chips_that_the_ledger_knows_is_named(hand: RoundRecord) -> None:
    configuration = types_pb2.TableConfiguration(play=wallet_types.PLAY_TOURNAMENT)
    version = types_pb2.ConfigurationVersion(configuration=configuration)

    def found(ledger: wallet_pb2.Round | None) -> list[str]:
        answer = RoundReplay(hand, version, RULES, ledger, None).compute()
        return [each for each in answer.differences if "ledger" in each]

    assert found(None) == []
    assert "the ledger knows the round, although it was played for chips" in found(ledger_round(hand))


def _decided_so_far(record: RoundRecord, count: int) -> RoundRecord:
    """The same round before its end, after this many decisions."""
    paid = [each for each in record.paid if each.position <= count]
    return RoundRecord(record.opened, record.drawn, None, record.moves[:count], paid)


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("decided", range(len(DECISIONS) + 1))
def test_g7_entropy_and_outcome_are_not_told_before_the_end(record: RoundRecord, decided: int) -> None:
    """Two rounds that differ in unseen cards alone have the same answer, whether they are decided or not."""
    other = entropy_where(BETS, _same_but_for_hidden_cards)
    assert other != ENTROPY
    answers = []
    for entropy in (ENTROPY, other):
        cards = replace(record, drawn=replace(drawn_of(record), entropy=entropy))
        answer = replay(_decided_so_far(cards, decided))
        assert (answer.entropy, answer.HasField("computed_outcome"), answer.round.HasField("outcome")) == (
            b"",
            False,
            False,
        )
        assert not any(stake.HasField("results") for stake in answer.stakes)
        paid = {stake.stake_id: stake.computed_payout_cents for stake in answer.stakes if stake.computed_payout_cents}
        assert paid == {"guess.1:3": 1_200} | ({"guess.1:2": 200} if decided == len(DECISIONS) else {})
        answers.append(answer)
    assert answers[0] == answers[1]
    assert list(answers[0].differences) == []


def _same_but_for_hidden_cards(round_: GuessRound) -> bool:
    known = deal(ENTROPY, BETS)
    return round_.deck[0] != known.deck[0] and [c // 4 == KING for _, (c,) in sorted(round_.hands.items())] == [
        False,
        False,
        True,
    ]


@pytest.mark.guarantee("G4")
def test_a_void_dealt_round_gives_back_what_was_not_paid(record: RoundRecord) -> None:
    """Its key was lost: what was paid early stays paid."""
    stakes: Sequence[JournalStake] = record.stakes
    early = {stake_id: cents for paid in record.paid for stake_id, cents in paid.payouts}
    payouts = [(stake.stake_id, early.get(stake.stake_id, stake.amount_cents)) for stake in stakes]
    void = replace(ended_of(record), ending=Ending.VOID, outcome=None, void_reason="the key is lost", payouts=payouts)
    found = differences(replace(record, ended=void))
    # The key was found again, and says that it could have been played on.
    assert [each for each in found if "in the journal, another" in each or "computed" in each] == []
    assert "void in the journal, although it was drawn" in found
