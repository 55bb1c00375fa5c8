"""The operator's back office, as far as the site needs one: accounts and money, over the gateway's REST."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp

from stack.issuer import DevelopmentIssuer

WELCOME_CENTS = 100_00
CALL_TIMEOUT_S = 10.0
# Instead of a reason of the platform.
UNREACHABLE = "unreachable"
_REFERENCE = "operator site"


@dataclass(frozen=True)
class Balance:
    """The balance of a player's account for real money."""

    account_id: str
    free_cents: int
    locked_cents: int


class PlatformCallFailed(Exception):
    """The platform refused or did not answer: the same command may be sent again under the same key."""

    def __init__(self, reason: str = UNREACHABLE) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def http_status(self) -> int:
        """The status of the page that reports it."""
        return 503 if self.reason == UNREACHABLE else 409


class Accounts:
    """Opens and moves accounts; each command carries its caller's key, so that it acts once when it is sent again."""

    def __init__(self, session: aiohttp.ClientSession, issuer: DevelopmentIssuer) -> None:
        """The base address of `session` is the gateway's."""
        self._session = session
        self._issuer = issuer

    async def open_account(self, name: str) -> None:
        """Opens the account, with money in it the first time."""
        await self.deposit(name, WELCOME_CENTS, f"site-welcome-{name}")

    async def balance(self, name: str) -> Balance:
        """Returns the balance; opens the account if there is none."""
        return _balance(await self._call("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"}))

    async def deposit(self, name: str, cents: int, key: str) -> Balance:
        """Moves money in."""
        return await self._move("deposits", name, cents, key)

    async def withdraw(self, name: str, cents: int, key: str) -> Balance:
        """Moves money out."""
        return await self._move("withdrawals", name, cents, key)

    async def _move(self, direction: str, name: str, cents: int, key: str) -> Balance:
        account = (await self.balance(name)).account_id
        body = {"amount_cents": cents, "reference": _REFERENCE}
        return _balance(await self._call(f"/v1/accounts/{account}/{direction}", body, {"Idempotency-Key": key}))

    async def _call(
        self, path: str, body: dict[str, object], headers: dict[str, str] | None = None
    ) -> dict[str, object]:
        token = self._issuer.token(["operator"], "operator-site", minutes=1)
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        try:
            async with self._session.post(path, json=body, headers=sent) as answer:
                content: dict[str, object] = await answer.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as failed:
            raise PlatformCallFailed from failed
        if answer.status >= 500 or answer.status == 429:
            raise PlatformCallFailed
        if not answer.ok:
            raise PlatformCallFailed(str(content.get("reason", answer.status)))
        return content


def _balance(answer: dict[str, object]) -> Balance:
    balance = answer["balance"]
    if not isinstance(balance, dict):
        raise PlatformCallFailed
    return Balance(str(balance["account_id"]), int(balance["free_cents"]), int(balance["locked_cents"]))
