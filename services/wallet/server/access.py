"""Who may see what: a player what is their own, a game what belongs to its tables, an operator everything."""

from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.access.identity import GAME, Caller
from services.wallet.model import refusals
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import Mode
from services.wallet.store import accounts, queries


def sees_everybody(caller: Caller) -> bool:
    """Whether the caller is no player: an operator, or a game service, whose tables `verify_game` is about."""
    return bool(caller.scopes & {"operator", "game"})


def is_operator(caller: Caller) -> bool:
    return "operator" in caller.scopes


def verify_access(caller: Caller, player_id: str | None) -> None:
    """Refuses a player what belongs to another player, and with None what belongs to no single one."""
    if not sees_everybody(caller) and caller.subject != player_id:
        raise refusals.not_yours()


def verify_owner(caller: Caller, player_id: str, unknown: WalletRefused) -> None:
    """Refuses a player what was found and is another player's, with the refusal of what does not exist.

    That it exists is nobody else's business (G7).
    """
    if not sees_everybody(caller) and caller.subject != player_id:
        raise unknown


def verify_game(caller: Caller, game: str, table_id: str) -> None:
    """Refuses a game service what belongs to another game's table."""
    if GAME in caller.scopes and caller.game != game:
        raise refusals.wrong_game(caller.game, (table_id, game))


def verify_no_game(caller: Caller) -> None:
    """Refuses every game service what belongs to no game: a player's money outside the tables."""
    if GAME in caller.scopes:
        raise refusals.wrong_game(caller.game)


async def visible_account_no(
    connection: AsyncConnection, caller: Caller, mode: Mode, round_no: int, unknown: WalletRefused
) -> int | None:
    """Returns the only account whose part in a round the caller may see; None for a caller who sees everybody's.

    A player who has no part in the round gets the refusal of a round that does not exist: at an individual table even
    its times are another player's own (G7).
    """
    if sees_everybody(caller):
        return None
    try:
        account_no = (await accounts.find_by_player(connection, caller.subject, mode)).no
    except WalletRefused:
        raise unknown from None
    if not await queries.took_part(connection, account_no, round_no):
        raise unknown
    return account_no
