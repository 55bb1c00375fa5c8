"""The operator's back office as far as the front desk needs one: accounts and money, over the gateway's REST."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp

from stack.issuer import DevelopmentIssuer

WELCOME_CENTS = 100_00
CALL_TIMEOUT_S = 10.0
# Instead of a reason of the platform.
UNREACHABLE = "unreachable"
_REFERENCE = "front desk"


@dataclass(frozen=True)
class Balance:
    """Of a player's account for money."""

    account_id: str
    free_cents: int
    locked_cents: int


class PlatformCallFailed(Exception):
    """The platform said no, or nothing: whatever was asked may be asked again under the same name."""

    def __init__(self, reason: str = UNREACHABLE) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def http_status(self) -> int:
        """As a page is answered with it."""
        return 503 if self.reason == UNREACHABLE else 409


class Accounts:
    """Commands are named by the caller: sent again, they act once."""

    def __init__(self, session: aiohttp.ClientSession, issuer: DevelopmentIssuer) -> None:
        """`session` is one whose base is the gateway."""
        self._session = session
        self._issuer = issuer

    async def open_account(self, name: str) -> None:
        """Open the account; the first time there is money in it."""
        await self.deposit(name, WELCOME_CENTS, f"site-welcome-{name}")

    async def balance(self, name: str) -> Balance:
        return _balance(await self._call("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"}))

    async def deposit(self, name: str, cents: int, command: str) -> Balance:
        return await self._move("deposits", name, cents, command)

    async def withdraw(self, name: str, cents: int, command: str) -> Balance:
        return await self._move("withdrawals", name, cents, command)

    async def _move(self, what: str, name: str, cents: int, command: str) -> Balance:
        account = (await self.balance(name)).account_id
        body = {"amount_cents": cents, "reference": _REFERENCE}
        return _balance(await self._call(f"/v1/accounts/{account}/{what}", body, {"Idempotency-Key": command}))

    async def _call(
        self, path: str, body: dict[str, object], headers: dict[str, str] | None = None
    ) -> dict[str, object]:
        token = self._issuer.token(["operator"], "operator-site", minutes=1)
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        try:
            async with self._session.post(path, json=body, headers=sent) as answer:
                said: dict[str, object] = await answer.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as failed:
            raise PlatformCallFailed from failed
        if answer.status >= 500 or answer.status == 429:
            raise PlatformCallFailed
        if not answer.ok:
            raise PlatformCallFailed(str(said.get("reason", answer.status)))
        return said


def _balance(said: dict[str, object]) -> Balance:
    balance = said["balance"]
    if not isinstance(balance, dict):
        raise PlatformCallFailed
    return Balance(str(balance["account_id"]), int(balance["free_cents"]), int(balance["locked_cents"]))
