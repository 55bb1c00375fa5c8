"""Rate limits: a burst, then a rate, for each caller separately."""

from __future__ import annotations

import pytest

from gateway.access import rate_limiter as rate_limiter_module
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
def rate_limiter(clock: FakeClock) -> RateLimiter:
    return RateLimiter(LIMITS, clock)


def principal(subject: str, scope: str = "player") -> Principal:
    return Principal("", Caller(subject, frozenset({scope}), 0.0))


def count_calls(rate_limiter: RateLimiter, caller: Principal, address: str = "192.0.2.1", limit: int = 1000) -> int:
    """Returns how many calls are allowed at once."""
    for number in range(limit):
        try:
            rate_limiter.count_call(caller, address)
        except GatewayRefused:
            return number
    return limit


def test_a_burst_is_allowed_and_then_a_rate(rate_limiter: RateLimiter, clock: FakeClock) -> None:
    ana = principal("ana")
    assert count_calls(rate_limiter, ana) == 60
    for _ in range(10):
        clock.seconds += 0.25
        assert count_calls(rate_limiter, ana) == 5
    clock.seconds += 3600
    assert count_calls(rate_limiter, ana) == 60


def test_a_refusal_says_exactly_how_long_to_wait(rate_limiter: RateLimiter, clock: FakeClock) -> None:
    ana = principal("ana")
    count_calls(rate_limiter, ana)
    with pytest.raises(GatewayRefused) as refused:
        rate_limiter.count_call(ana, "")
    assert refused.value.reason == "RATE_LIMITED"
    assert refused.value.facts == {"limit": "calls of a player: 20 a second, 60 at once", "retry_after_ms": "50"}
    clock.seconds += 0.049
    assert count_calls(rate_limiter, ana) == 0
    clock.seconds += 0.001
    assert count_calls(rate_limiter, ana) == 1


def test_every_caller_has_a_limit_of_their_own(rate_limiter: RateLimiter) -> None:
    assert count_calls(rate_limiter, principal("ana")) == 60
    assert count_calls(rate_limiter, principal("rui")) == 60
    assert count_calls(rate_limiter, principal("demo-12345678", "demo")) == 60
    assert count_calls(rate_limiter, principal("ana", "operator")) == 100
    assert count_calls(rate_limiter, ANONYMOUS, "192.0.2.1") == 5
    assert count_calls(rate_limiter, ANONYMOUS, "192.0.2.2") == 5


def test_guests_of_one_address_share_a_limit(rate_limiter: RateLimiter, clock: FakeClock) -> None:
    for _ in range(4):
        rate_limiter.count_demo_visit("192.0.2.1")
    with pytest.raises(GatewayRefused) as refused:
        rate_limiter.count_demo_visit("192.0.2.1")
    assert refused.value.facts["limit"] == "visits to try: 1 a second, 4 at once"
    rate_limiter.count_demo_visit("192.0.2.2")
    guests = [principal(f"demo-{number:08}", "demo") for number in range(4)]
    assert [count_calls(rate_limiter, guest) for guest in guests] == [60, 60, 30, 0]
    # They take nothing from a player of that address, nor from guests of another.
    assert count_calls(rate_limiter, principal("ana")) == 60
    assert count_calls(rate_limiter, principal("demo-elsewhere", "demo"), "192.0.2.2") == 60
    clock.seconds += 1
    assert [count_calls(rate_limiter, guest) for guest in guests] == [10, 0, 0, 0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("unix:", "unix:", True),
    ],
)
def test_addresses_of_one_subscriber_share_a_limit(
    rate_limiter: RateLimiter, one: str, other: str, *, same: bool
) -> None:
    assert count_calls(rate_limiter, ANONYMOUS, one) == 5
    assert count_calls(rate_limiter, ANONYMOUS, other) == (0 if same else 5)


def test_tokens_and_messages_have_limits_of_their_own(rate_limiter: RateLimiter, clock: FakeClock) -> None:
    for _ in range(2):
        rate_limiter.count_shown_token("192.0.2.1")
    with pytest.raises(GatewayRefused):
        rate_limiter.count_shown_token("192.0.2.1")
    assert count_calls(rate_limiter, ANONYMOUS) == 5
    one, other = rate_limiter.connection_allowance(), rate_limiter.connection_allowance()
    for connection in (one, other):
        for _ in range(3):
            connection.count_message()
        with pytest.raises(GatewayRefused):
            connection.count_message()
    clock.seconds += 0.1
    one.count_message()


def test_callers_are_remembered_up_to_a_limit(rate_limiter: RateLimiter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limiter_module, "REMEMBERED_CALLERS_LIMIT", 100)
    for number in range(1000):
        rate_limiter.count_call(principal(f"player-{number}"), "")
    assert len(rate_limiter._allowances) == 100
