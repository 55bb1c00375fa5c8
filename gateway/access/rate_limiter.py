"""How much anyone may ask of one gateway, so that nobody's program, however wrong, takes the others' turn (G11).

Each gateway counts for itself: with several, a player who spreads his calls may make as many times more.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

from gateway.access.principals import Principal
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import DEMO

# Those of whom it is remembered what they used up; who has used nothing for longest is forgotten first (G11).
REMEMBERED_CALLERS_LIMIT = 100_000
_ADDRESS_CHARACTERS_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Limit:
    """So many a second on average, and so many at once after a pause."""

    name: str
    per_second: float
    burst: int


@dataclass(frozen=True, slots=True)
class Limits:
    """All of them."""

    player_calls: Limit = Limit("calls of a player", 20, 60)
    operator_calls: Limit = Limit("calls of an operator", 200, 600)
    address_calls: Limit = Limit("calls without a token from one address", 10, 30)
    address_tokens: Limit = Limit("tokens shown from one address", 100, 1_000)
    connection_messages: Limit = Limit("messages on one connection", 30, 60)
    # Whoever comes to try is somebody new as often as he likes: these are for all behind one address together.
    demo_visits: Limit = Limit("visits to try from one address", 1, 60)
    demo_calls: Limit = Limit("calls of those who try from one address", 100, 1_000)


class Allowance:
    """What is left of a limit to one asker, as the moment at which it will be whole again."""

    __slots__ = ("full_at", "limit")

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.full_at = 0.0

    def take(self, now: float) -> None:
        """Takes one, or is refused with RATE_LIMITED and takes nothing."""
        limit = self.limit
        whole_at = max(self.full_at, now) + 1 / limit.per_second
        wait_s = whole_at - now - limit.burst / limit.per_second
        # A share of a nanosecond is arithmetic, not impatience.
        if wait_s > 1e-9:
            said = f"{limit.name}: {limit.per_second:g} a second, {limit.burst} at once"
            wait_ms = math.ceil(wait_s * 1000)
            raise GatewayRefused(
                "RATE_LIMITED", f"Too many {limit.name}: wait {wait_ms} ms.", limit=said, retry_after_ms=wait_ms
            )
        self.full_at = whole_at


class RateLimiter:
    """All who ask."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._elapsed = clock
        self._allowances: OrderedDict[tuple[str, str], Allowance] = OrderedDict()

    def count_call(self, principal: Principal, address: str) -> None:
        """Somebody calls: counted for him, or for his address if he does not say who he is."""
        if principal.caller is None:
            self._take(self._limits.address_calls, subscriber_network(address))
        elif principal.player_id is None:
            self._take(self._limits.operator_calls, principal.caller.subject)
        else:
            # His own first: one who asks too much takes nothing from those who are behind the same address.
            self._take(self._limits.player_calls, principal.player_id)
            if DEMO in principal.caller.scopes:
                self._take(self._limits.demo_calls, subscriber_network(address))

    def count_demo_visit(self, address: str) -> None:
        """Somebody comes in to try: he becomes one more who is remembered, here and everywhere."""
        self._take(self._limits.demo_visits, subscriber_network(address))

    def count_shown_token(self, address: str) -> None:
        """Somebody shows a token, which has to be verified before anything is known of him."""
        self._take(self._limits.address_tokens, subscriber_network(address))

    def connection_allowance(self) -> ConnectionAllowance:
        """A new connection's own allowance."""
        return ConnectionAllowance(Allowance(self._limits.connection_messages), self._elapsed)

    def _take(self, limit: Limit, whose: str) -> None:
        key = (limit.name, whose)
        allowance = self._allowances.get(key)
        if allowance is None:
            allowance = self._allowances[key] = Allowance(limit)
            if len(self._allowances) > REMEMBERED_CALLERS_LIMIT:
                self._allowances.popitem(last=False)
        else:
            self._allowances.move_to_end(key)
        allowance.take(self._elapsed())


class ConnectionAllowance:
    """What may be said on one connection."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float]) -> None:
        self._allowance = allowance
        self._elapsed = clock

    def count_message(self) -> None:
        """One more, or refused."""
        self._allowance.take(self._elapsed())


@lru_cache(maxsize=10_000)
def subscriber_network(address: str) -> str:
    """What one subscriber has: of IPv6 that is a whole network of addresses."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:_ADDRESS_CHARACTERS_LIMIT]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed), 64), strict=False))
    return str(parsed)
