"""Nobody asks for more than his share, and one who waits gets it again."""

from __future__ import annotations

import pytest

from gateway.access import rate_limiter
from gateway.access.principals import ANONYMOUS, Principal
from gateway.access.rate_limiter import Limit, Limits, RateLimiter
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from tests.gateway.bus import FakeClock

pytestmark = pytest.mark.guarantee("G11")

LIMITS = Limits(
    player_calls=Limit("calls of a player", 20, 60),
    operator_calls=Limit("calls of an operator", 100, 100),
    address_calls=Limit("calls without a token", 10, 5),
    address_tokens=Limit("tokens", 1, 2),
    connection_messages=Limit("messages", 10, 3),
    demo_visits=Limit("visits to try", 1, 4),
    demo_calls=Limit("calls of those who try", 10, 150),
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1000.0)


@pytest.fixture
def known(clock: FakeClock) -> RateLimiter:
    return RateLimiter(LIMITS, clock)


def visitor(subject: str, scope: str = "player") -> Principal:
    return Principal("", Caller(subject, frozenset({scope}), 0.0))


def calls(known: RateLimiter, who: Principal, address: str = "192.0.2.1", limit: int = 1000) -> int:
    """How many he gets through with at once."""
    for number in range(limit):
        try:
            known.count_call(who, address)
        except GatewayRefused:
            return number
    return limit


def test_so_many_at_once_and_then_so_many_a_second(known: RateLimiter, clock: FakeClock) -> None:
    ana = visitor("ana")
    assert calls(known, ana) == 60
    for _ in range(10):
        clock.seconds += 0.25
        assert calls(known, ana) == 5
    clock.seconds += 3600
    assert calls(known, ana) == 60


def test_a_refusal_says_how_long_to_wait_and_that_is_enough(known: RateLimiter, clock: FakeClock) -> None:
    ana = visitor("ana")
    calls(known, ana)
    with pytest.raises(GatewayRefused) as refused:
        known.count_call(ana, "")
    assert refused.value.reason == "RATE_LIMITED"
    assert refused.value.facts == {"limit": "calls of a player: 20 a second, 60 at once", "retry_after_ms": "50"}
    clock.seconds += 0.049
    assert calls(known, ana) == 0
    clock.seconds += 0.001
    assert calls(known, ana) == 1


def test_everybody_has_his_own(known: RateLimiter) -> None:
    assert calls(known, visitor("ana")) == 60
    assert calls(known, visitor("rui")) == 60
    assert calls(known, visitor("demo-12345678", "demo")) == 60
    assert calls(known, visitor("ana", "operator")) == 100
    assert calls(known, ANONYMOUS, "192.0.2.1") == 5
    assert calls(known, ANONYMOUS, "192.0.2.2") == 5


def test_who_comes_to_try_again_and_again_gets_no_more_by_it(known: RateLimiter, clock: FakeClock) -> None:
    for _ in range(4):
        known.count_demo_visit("192.0.2.1")
    with pytest.raises(GatewayRefused) as refused:
        known.count_demo_visit("192.0.2.1")
    assert refused.value.facts["limit"] == "visits to try: 1 a second, 4 at once"
    known.count_demo_visit("192.0.2.2")
    guests = [visitor(f"demo-{number:08}", "demo") for number in range(4)]
    assert [calls(known, guest) for guest in guests] == [60, 60, 30, 0]
    # They take nothing from one who plays from there, nor from those who try elsewhere.
    assert calls(known, visitor("ana")) == 60
    assert calls(known, visitor("demo-elsewhere", "demo"), "192.0.2.2") == 60
    clock.seconds += 1
    assert [calls(known, guest) for guest in guests] == [10, 0, 0, 0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("unix:", "unix:", True),
    ],
)
def test_an_address_is_what_a_subscriber_has(known: RateLimiter, one: str, other: str, *, same: bool) -> None:
    assert calls(known, ANONYMOUS, one) == 5
    assert calls(known, ANONYMOUS, other) == (0 if same else 5)


def test_tokens_and_messages_are_counted_for_themselves(known: RateLimiter, clock: FakeClock) -> None:
    for _ in range(2):
        known.count_shown_token("192.0.2.1")
    with pytest.raises(GatewayRefused):
        known.count_shown_token("192.0.2.1")
    assert calls(known, ANONYMOUS) == 5
    one, other = known.connection_allowance(), known.connection_allowance()
    for connection in (one, other):
        for _ in range(3):
            connection.count_message()
        with pytest.raises(GatewayRefused):
            connection.count_message()
    clock.seconds += 0.1
    one.count_message()


def test_only_so_many_are_remembered(known: RateLimiter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limiter, "REMEMBERED_CALLERS_LIMIT", 100)
    for number in range(1000):
        known.count_call(visitor(f"player-{number}"), "")
    assert len(known._allowances) == 100
