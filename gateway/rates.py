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

from gateway.refusals import GatewayRefused
from gateway.visitors import Visitor
from services.kit.identity import DEMO

# Those of whom it is remembered what they used up; who has used nothing for longest is forgotten first (G11).
REMEMBERED_LIMIT = 100_000
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

    player: Limit = Limit("calls of a player", 20, 60)
    operator: Limit = Limit("calls of an operator", 200, 600)
    address: Limit = Limit("calls without a token from one address", 10, 30)
    newcomers: Limit = Limit("tokens shown from one address", 100, 1_000)
    connection: Limit = Limit("messages on one connection", 30, 60)
    # Whoever comes to try is somebody new as often as he likes: these are for all behind one address together.
    demo_visits: Limit = Limit("visits to try from one address", 1, 60)
    demo_calls: Limit = Limit("calls of those who try from one address", 100, 1_000)


class Allowance:
    """What is left of a limit to one asker, as the moment at which it will be whole again."""

    __slots__ = ("limit", "whole_at")

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.whole_at = 0.0

    def take(self, now: float) -> None:
        """Takes one, or is refused with RATE_LIMITED and takes nothing."""
        limit = self.limit
        whole_at = max(self.whole_at, now) + 1 / limit.per_second
        wait_s = whole_at - now - limit.burst / limit.per_second
        # A share of a nanosecond is arithmetic, not impatience.
        if wait_s > 1e-9:
            said = f"{limit.name}: {limit.per_second:g} a second, {limit.burst} at once"
            wait_ms = math.ceil(wait_s * 1000)
            raise GatewayRefused(
                "RATE_LIMITED", f"Too many {limit.name}: wait {wait_ms} ms.", limit=said, retry_after_ms=wait_ms
            )
        self.whole_at = whole_at


class Rates:
    """All who ask."""

    def __init__(self, limits: Limits, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._elapsed = elapsed
        self._allowances: OrderedDict[tuple[str, str], Allowance] = OrderedDict()

    def call(self, visitor: Visitor, address: str) -> None:
        """Somebody calls: counted for him, or for his address if he does not say who he is."""
        if visitor.caller is None:
            self._take(self._limits.address, neighbourhood(address))
        elif visitor.player_id is None:
            self._take(self._limits.operator, visitor.caller.subject)
        else:
            # His own first: one who asks too much takes nothing from those who are behind the same address.
            self._take(self._limits.player, visitor.player_id)
            if DEMO in visitor.caller.scopes:
                self._take(self._limits.demo_calls, neighbourhood(address))

    def demo_visit(self, address: str) -> None:
        """Somebody comes in to try: he becomes one more who is remembered, here and everywhere."""
        self._take(self._limits.demo_visits, neighbourhood(address))

    def newcomer(self, address: str) -> None:
        """Somebody shows a token, which has to be verified before anything is known of him."""
        self._take(self._limits.newcomers, neighbourhood(address))

    def connection(self) -> Connection:
        """A new connection's own allowance."""
        return Connection(Allowance(self._limits.connection), self._elapsed)

    def _take(self, limit: Limit, whose: str) -> None:
        key = (limit.name, whose)
        allowance = self._allowances.get(key)
        if allowance is None:
            allowance = self._allowances[key] = Allowance(limit)
            if len(self._allowances) > REMEMBERED_LIMIT:
                self._allowances.popitem(last=False)
        else:
            self._allowances.move_to_end(key)
        allowance.take(self._elapsed())


class Connection:
    """What may be said on one connection."""

    def __init__(self, allowance: Allowance, elapsed: Callable[[], float]) -> None:
        self._allowance = allowance
        self._elapsed = elapsed

    def message(self) -> None:
        """One more, or refused."""
        self._allowance.take(self._elapsed())


@lru_cache(maxsize=10_000)
def neighbourhood(address: str) -> str:
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
