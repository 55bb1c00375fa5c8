"""Limits the rate of calls of each player, operator and address at one gateway, so that no client starves others (G11).

Each gateway counts for itself: a player who spreads calls over several gateways may make as many times more.
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

# The caller that has been silent for longest is forgotten first (G11).
REMEMBERED_CALLERS_LIMIT = 100_000
_ADDRESS_CHARACTERS_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate per second on average, and a burst after a pause."""

    name: str
    per_second: float
    burst: int


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of a gateway."""

    player_calls: Limit = Limit("calls of a player", 20, 60)
    operator_calls: Limit = Limit("calls of an operator", 200, 600)
    address_calls: Limit = Limit("calls without a token from one address", 10, 30)
    address_tokens: Limit = Limit("tokens shown from one address", 100, 1_000)
    connection_messages: Limit = Limit("messages on one connection", 30, 60)
    # A guest can become a new player at any time: these limits are shared by all guests of one address.
    demo_visits: Limit = Limit("visits to try from one address", 1, 60)
    demo_calls: Limit = Limit("calls of those who try from one address", 100, 1_000)


class Allowance:
    """What is left of a limit for one caller, kept as the time at which it will be full again."""

    __slots__ = ("full_at", "limit")

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.full_at = 0.0

    def take(self, now: float) -> None:
        """Takes one call, or refuses it with RATE_LIMITED and takes nothing."""
        limit = self.limit
        full_at = max(self.full_at, now) + 1 / limit.per_second
        wait_s = full_at - now - limit.burst / limit.per_second
        # Less than a nanosecond is a rounding error.
        if wait_s > 1e-9:
            described = f"{limit.name}: {limit.per_second:g} a second, {limit.burst} at once"
            wait_ms = math.ceil(wait_s * 1000)
            raise GatewayRefused(
                "RATE_LIMITED", f"Too many {limit.name}: wait {wait_ms} ms.", limit=described, retry_after_ms=wait_ms
            )
        self.full_at = full_at


class RateLimiter:
    """Counts the calls of all clients."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._allowances: OrderedDict[tuple[str, str], Allowance] = OrderedDict()

    def count_call(self, principal: Principal, address: str) -> None:
        """Counts a call for its principal, or for the address if there is no token."""
        if principal.caller is None:
            self._take(self._limits.address_calls, subscriber_network(address))
        elif principal.player_id is None:
            self._take(self._limits.operator_calls, principal.caller.subject)
        else:
            # The player's own limit comes first, so that one guest takes nothing from others at the same address.
            self._take(self._limits.player_calls, principal.player_id)
            if DEMO in principal.caller.scopes:
                self._take(self._limits.demo_calls, subscriber_network(address))

    def count_demo_visit(self, address: str) -> None:
        """Counts a new guest of a demonstration."""
        self._take(self._limits.demo_visits, subscriber_network(address))

    def count_shown_token(self, address: str) -> None:
        """Counts a token that was shown: verifying it costs more than forging it."""
        self._take(self._limits.address_tokens, subscriber_network(address))

    def connection_allowance(self) -> ConnectionAllowance:
        """Returns the allowance of a new connection."""
        return ConnectionAllowance(Allowance(self._limits.connection_messages), self._clock)

    def _take(self, limit: Limit, caller: str) -> None:
        key = (limit.name, caller)
        allowance = self._allowances.get(key)
        if allowance is None:
            allowance = self._allowances[key] = Allowance(limit)
            if len(self._allowances) > REMEMBERED_CALLERS_LIMIT:
                self._allowances.popitem(last=False)
        else:
            self._allowances.move_to_end(key)
        allowance.take(self._clock())


class ConnectionAllowance:
    """How many messages one connection may send."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float]) -> None:
        self._allowance = allowance
        self._clock = clock

    def count_message(self) -> None:
        """Counts a message, or refuses it with RATE_LIMITED."""
        self._allowance.take(self._clock())


@lru_cache(maxsize=10_000)
def subscriber_network(address: str) -> str:
    """Returns the addresses that one subscriber has: a whole network of IPv6, or one address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:_ADDRESS_CHARACTERS_LIMIT]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed), 64), strict=False))
    return str(parsed)
