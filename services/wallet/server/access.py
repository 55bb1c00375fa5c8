"""Who may see what: a player their own accounts, sessions and complaints, operators and games everybody's."""

from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.access.identity import Caller
from services.wallet.model import refusals
from services.wallet.model.state import Mode
from services.wallet.store import accounts


def sees_everybody(caller: Caller) -> bool:
    """Whether the caller is an operator or a game service."""
    return bool(caller.scopes & {"operator", "game"})


def is_operator(caller: Caller) -> bool:
    return "operator" in caller.scopes


def verify_access(caller: Caller, player_id: str | None) -> None:
    """Refuses a player what belongs to another player, and with None what belongs to no single one."""
    if not sees_everybody(caller) and caller.subject != player_id:
        raise refusals.not_yours()


async def visible_account_no(connection: AsyncConnection, caller: Caller, mode: Mode) -> int | None:
    """Returns the only account that the caller may see; None for a caller who sees everybody's."""
    if sees_everybody(caller):
        return None
    try:
        return (await accounts.find_by_player(connection, caller.subject, mode)).no
    except refusals.WalletRefused:
        # A player without an account in this mode takes part in nothing there.
        raise refusals.not_yours() from None
