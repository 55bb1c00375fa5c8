"""Paid stakes in the pure ledger: whatever is placed, taken back and paid in whatever order, the round adds up."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feltro.wallet.v1 import wallet_pb2
from services.wallet.ledger import commands
from services.wallet.ledger.book import Book
from services.wallet.ledger.decisions import decide
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import (
    Account,
    AccountKind,
    Device,
    InactivityPolicy,
    Mode,
    Play,
    RelevantEventLimits,
    Round,
    Session,
    SessionKey,
    SessionState,
    StakeState,
    Table,
)

T0 = datetime(2026, 1, 5, 20, 0, tzinfo=UTC)
PURSE_CENTS = 10_000
PRIZE_CENTS = 1_500
PLAYERS = 3
TABLE, BANK = 1, 2
ROUND = "t.1"


class Ledger:
    """A book with one table, one round and three players, whose commands are decided one by one."""

    def __init__(self) -> None:
        self.book = Book(T0, T0, RelevantEventLimits(prize_cents=PRIZE_CENTS))
        self._numbers = itertools.count(100)
        self.book.tables[TABLE] = Table(
            TABLE, "t", "game", "805/2015", Mode.REAL, Play.MULTI_PLAYER, 1, BANK, InactivityPolicy()
        )
        self._account(BANK, AccountKind.BANK, 0)
        for player in range(PLAYERS):
            account = self._account(10 + player, AccountKind.PLAYER, PURSE_CENTS)
            self._session(20 + player, account)
        # The round is known by a stake that was taken back, so that any command may come first.
        self.take_back(0, self.place(0, 1))

    def _account(self, no: int, kind: AccountKind, cents: int) -> Account:
        player_id = f"player-{no}" if kind is AccountKind.PLAYER else None
        account = Account(no, str(no), kind, Mode.REAL, player_id, None, None, cents, 0, 0, blocked=False)
        self.book.accounts[no] = account
        return account

    def _session(self, no: int, account: Account) -> None:
        session = Session(
            no=no, session_id=str(no), player_id=account.player_id or "", account_no=account.no,
            account_id=account.account_id, table_no=TABLE, table_id="t", game="game", regulation="805/2015",
            mode=Mode.REAL, play=Play.MULTI_PLAYER, state=SessionState.ACTIVE, device=Device(), started_at=T0,
            started_version=0, ended_at=None, ended_version=None, end_cause=None, last_activity_at=T0, idle_since=T0,
            missed_rounds=0, warned_at=None, warned_round_id=None, cave_short_since=None, next_step_at=None,
        )  # fmt: skip
        self.book.sessions[no] = session
        self.book.session_states[no] = session.state
        self.book.session_keys[session.session_id] = SessionKey(no, account.no, TABLE)

    @property
    def round(self) -> Round:
        return self.book.rounds[ROUND]

    @property
    def open_stakes(self) -> list[str]:
        return list(self.book.open_stakes_of(self.round))

    def place(self, player: int, cents: int) -> str:
        no = next(self._numbers)
        stake_id = f"stake-{no}"
        decide(
            self.book,
            commands.PlaceStake(
                stake_id, b"", "game", "t", 1, "game", ROUND, str(10 + player), str(20 + player), cents, b"",
                account_no=10 + player, session_no=20 + player, table_no=TABLE,
            ),
            no,
        )  # fmt: skip
        return stake_id

    def take_back(self, player: int, stake_id: str, cents: int = 0) -> None:
        no = next(self._numbers)
        parts = [commands.StakeToCancel(stake_id, cents)]
        command = commands.CancelStakes(
            f"back-{no}", b"", "game", "t", 1, "game", ROUND, str(10 + player), parts, table_no=TABLE
        )
        decide(self.book, command, no)

    def pay(self, payouts: dict[str, int]) -> wallet_pb2.PayStakesResponse:
        no = next(self._numbers)
        command = commands.PayStakes(f"pay-{no}", b"", "game", "t", 1, "game", ROUND, payouts, table_no=TABLE)
        answer = decide(self.book, command, no)
        assert isinstance(answer, wallet_pb2.PayStakesResponse)
        return answer

    def end(self, payouts: dict[str, int] | None) -> wallet_pb2.SettleRoundResponse | wallet_pb2.VoidRoundResponse:
        """Settles the round with these payouts, or makes it void without any."""
        no = next(self._numbers)
        command: commands.Command = commands.VoidRound(
            "end", b"", "game", "t", 1, "game", ROUND, "the shoe fell", table_no=TABLE
        )
        if payouts is not None:
            command = commands.SettleRound("end", b"", "game", "t", 1, "game", ROUND, payouts, b"", [], table_no=TABLE)
        answer = decide(self.book, command, no)
        assert isinstance(answer, wallet_pb2.SettleRoundResponse | wallet_pb2.VoidRoundResponse)
        return answer

    def verify(self) -> None:
        """G1: nothing comes or goes. G2: nobody is below zero. What is locked are the open stakes."""
        accounts = self.book.accounts.values()
        assert sum(account.free_cents + account.locked_cents for account in accounts) == PLAYERS * PURSE_CENTS
        for account in accounts:
            in_play = sum(s.open_cents for s in self.book.stakes.values() if s.account_no == account.no)
            assert account.locked_cents == in_play
            assert account.kind is AccountKind.BANK or account.free_cents >= 0
        by_transfer = dict.fromkeys(self.book.transfers, 0)
        for number, _, _, _, _, _, free, _, locked in self.book.postings:
            by_transfer[number] += free + locked
        assert set(by_transfer.values()) <= {0}


STEP = st.one_of(
    st.tuples(st.just("place"), st.integers(0, PLAYERS - 1), st.integers(1, 500)),
    st.tuples(st.just("take back"), st.integers(0, 20), st.integers(0, 400)),
    st.tuples(st.just("pay"), st.integers(0, 2**20 - 1), st.integers(0, 2_000)),
)


def play(ledger: Ledger, steps: list[tuple[str, int, int]]) -> dict[str, int]:
    """Carries out the steps as far as stakes are open for them; returns the payouts of the paid stakes."""
    paid: dict[str, int] = {}
    for what, choice, cents in steps:
        in_play = ledger.open_stakes
        if what == "place":
            ledger.place(choice, cents)
        elif what == "take back" and in_play:
            stake = ledger.book.stakes[in_play[choice % len(in_play)]]
            ledger.take_back(stake.account_no - 10, stake.stake_id, min(cents, stake.open_cents))
        elif what == "pay":
            chosen = [stake_id for bit, stake_id in enumerate(in_play) if choice >> bit & 1]
            if chosen:
                payouts = {stake_id: cents + number for number, stake_id in enumerate(chosen)}
                ledger.pay(payouts)
                paid |= payouts
        ledger.verify()
    return paid


@pytest.mark.guarantee("G1")
@pytest.mark.rule("805/2015:20.a")
@given(steps=st.lists(STEP, max_size=20), void=st.booleans(), payout=st.integers(0, 1_000))
def test_g1_a_round_adds_up_whatever_was_paid_before_its_end(
    steps: list[tuple[str, int, int]], *, void: bool, payout: int
) -> None:
    ledger = Ledger()
    paid = play(ledger, steps)
    left = {stake_id: ledger.book.stakes[stake_id].open_cents for stake_id in ledger.open_stakes}
    settled = dict.fromkeys(left, payout)
    answer = ledger.end(None if void else settled)
    ledger.verify()

    stakes = ledger.book.stakes.values()
    paid_back = paid | (left if void else settled)
    assert not any(account.locked_cents for account in ledger.book.accounts.values())
    assert {s.stake_id: s.payout_cents for s in stakes if s.state is StakeState.PAID} == paid
    ended = StakeState.RETURNED if void else StakeState.SETTLED
    assert {s.stake_id for s in stakes if s.state is ended} == left.keys()
    # One result for each account with a stake that was not taken back whole, and it is of the whole round.
    expected: dict[str, tuple[int, int]] = {}
    for stake in stakes:
        if stake.stake_id in paid_back:
            staked, got = expected.get(str(stake.account_no), (0, 0))
            expected[str(stake.account_no)] = staked + stake.staked_cents, got + paid_back[stake.stake_id]
    assert {r.account_id: (r.staked_cents, r.payout_cents) for r in answer.results} == expected
    for account_id, (staked, got) in expected.items():
        assert ledger.book.accounts[int(account_id)].free_cents == PURSE_CENTS - staked + got
    (ending,) = ledger.book.endings
    totals = [sum(amounts) for amounts in zip(*expected.values(), strict=True)] or [0, 0]
    assert [ending.staked_cents, ending.payout_cents] == totals


@pytest.mark.rule("903-B/2015:6.3.6.6")
@given(st.lists(STEP, max_size=20), st.integers(0, 1_000))
def test_a_prize_that_is_paid_in_parts_is_recorded_as_one_that_is_paid_at_once(
    steps: list[tuple[str, int, int]], payout: int
) -> None:
    ledger = Ledger()
    play(ledger, steps)
    answer = ledger.end(dict.fromkeys(ledger.open_stakes, payout))
    last = {str(event.account_no): event.amount_cents for event in ledger.book.relevant_events}
    assert last == {r.account_id: r.payout_cents for r in answer.results if r.payout_cents >= PRIZE_CENTS}
    # Nothing is recorded twice: each record of a player holds more than the one before.
    for account_no in {event.account_no for event in ledger.book.relevant_events}:
        amounts = [event.amount_cents for event in ledger.book.relevant_events if event.account_no == account_no]
        assert amounts == sorted(set(amounts))


@pytest.mark.guarantee("G4")
@given(st.lists(STEP, max_size=20), st.integers(1, 2**20 - 1))
def test_g4_what_has_ended_is_not_paid_and_a_refused_payment_changes_nothing(
    steps: list[tuple[str, int, int]], choice: int
) -> None:
    ledger = Ledger()
    play(ledger, steps)
    over = [stake_id for stake_id in ledger.book.stakes if stake_id not in ledger.open_stakes]
    wrong = over[choice % len(over)]
    before = repr(ledger.book)
    with pytest.raises(WalletRefused) as refused:
        ledger.pay(dict.fromkeys([*ledger.open_stakes, wrong], 1))
    assert (refused.value.reason, refused.value.facts["stake_id"]) == ("STAKE_UNKNOWN", wrong)
    assert repr(ledger.book) == before


@pytest.mark.guarantee("G12")
def test_g12_nothing_is_taken_back_from_a_round_that_was_never_opened() -> None:
    ledger = Ledger()
    stake_id = ledger.place(0, 100)
    command = commands.CancelStakes(
        "back", b"", "game", "t", 1, "game", "t.2", "10", [commands.StakeToCancel(stake_id, 0)], table_no=TABLE
    )
    before = repr(ledger.book)
    with pytest.raises(WalletRefused) as refused:
        decide(ledger.book, command, 999)
    assert (refused.value.reason, refused.value.facts) == ("ROUND_UNKNOWN", {"round_id": "t.2"})
    assert repr(ledger.book) == before
