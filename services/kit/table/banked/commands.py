"""The commands of players in one round: each acts once, however often it is sent (G3, `903-B/2015:6.1.1`)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar, cast

from google.protobuf.message import Message

from services.kit.command_digest import digest
from services.kit.table import refusals

_Answer = TypeVar("_Answer")


class CommandRequest(Protocol):
    """The field that every command of a player has."""

    @property
    def request_id(self) -> str: ...


class BetRequest(CommandRequest, Protocol):
    """The fields that every request about bets has."""

    @property
    def table_id(self) -> str: ...

    @property
    def round_id(self) -> str: ...


class BetCommand(NamedTuple):
    """What a player asks for, once: a request id names one command of its player, whatever the table or round."""

    request_id: str
    digest: bytes
    """Of everything else, the kind of command included."""

    @classmethod
    def of(cls, request: CommandRequest) -> BetCommand:
        return cls(request.request_id, digest(cast("Message", request)))

    def wallet_request_id(self, account_id: str) -> str:
        """Returns the id under which the wallet carries the command out, so that it acts once across all rounds.

        A stake's id is seen by everybody at the table, and tells them nothing (G7): it is hashed with the account id,
        which only the player and the platform know.
        """
        key = account_id.encode()[:64]
        return hashlib.blake2b(self.request_id.encode(), key=key, digest_size=16).hexdigest()


class PlayerCommands:
    """Remembers the commands of a round with their answers. The round limits how many there are (G11)."""

    def __init__(self) -> None:
        self._by_player: dict[str, dict[str, tuple[bytes, asyncio.Future[object]]]] = {}
        # Those that may have no answer yet: looking through all of a player's would take the longer the more there are.
        self._unanswered: dict[str, list[asyncio.Future[object]]] = {}

    def find(self, player_id: str, command: BetCommand) -> asyncio.Future[object] | None:
        """Returns the answer of the same command received before; refuses its id for another content."""
        earlier = self._by_player.get(player_id, {}).get(command.request_id)
        if earlier is None:
            return None
        content, answer = earlier
        if content != command.digest:
            raise refusals.request_reused(command.request_id)
        return answer

    def once(
        self, player_id: str, command: BetCommand, begin: Callable[[], asyncio.Future[_Answer]]
    ) -> asyncio.Future[_Answer]:
        """Begins a command, or returns the answer of the same one received before."""
        earlier = self.find(player_id, command)
        if earlier is not None:
            return cast("asyncio.Future[_Answer]", earlier)
        begun = begin()
        answer = cast("asyncio.Future[object]", begun)
        self._by_player.setdefault(player_id, {})[command.request_id] = command.digest, answer
        self._unanswered[player_id] = [*self.under_way(player_id), answer]
        return begun

    def forget(self, player_id: str, command: BetCommand) -> None:
        """Forgets a command that was refused and has changed nothing: it may be sent again."""
        self._by_player.get(player_id, {}).pop(command.request_id, None)

    def under_way(self, player_id: str) -> list[asyncio.Future[object]]:
        """Returns the commands of a player that have no answer yet."""
        return [answer for answer in self._unanswered.get(player_id, ()) if not answer.done()]

    async def wait_until_answered(self, player_id: str) -> None:
        """Returns when no command of the player is under way."""
        while under_way := self.under_way(player_id):
            await asyncio.wait(under_way)
