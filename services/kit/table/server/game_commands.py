"""What a game's own gRPC services use: commands at banked tables, commands at tables with caves, and records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple

from services.kit.table import refusals
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.sealing import CannotUnseal, EntropyKeys
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation
from services.kit.table.server.bet_commands import BetCommands
from services.kit.table.server.cave_commands import CaveCommands


class EndedRound(NamedTuple, Generic[Bets, Outcome]):
    """The record of a round that is over, its entropy unsealed, and the rules that it was played by."""

    record: RoundRecord
    rules: VersionedRules[Bets, Outcome]


class EndedRounds(Generic[Bets, Outcome]):
    """Reads rounds that are over from the journal of a game."""

    def __init__(
        self,
        read_round: Callable[[str], Awaitable[RoundRecord | None]],
        rules_of_version: Callable[[str, int], Awaitable[VersionedRules[Bets, Outcome]]],
        entropy_keys: EntropyKeys,
    ) -> None:
        self._read_round = read_round
        self._rules_of_version = rules_of_version
        self._entropy_keys = entropy_keys

    async def read(self, table_id: str, round_id: str) -> EndedRound[Bets, Outcome]:
        """Returns a round of the table that was paid; any other one is refused as unknown."""
        validation.table_id(table_id)
        record = await self._read_round(validation.round_id(round_id))
        if record is None or record.opened.table_id != table_id or record.ended is None or record.outcome is None:
            raise round_unknown(round_id)
        opened = record.opened
        rules = await self._rules_of_version(opened.placement_id, opened.configuration_version)
        try:
            return EndedRound(record.unsealed(self._entropy_keys), rules)
        except CannotUnseal:
            raise refusals.unavailable("The cards of the round cannot be read") from None


@dataclass(frozen=True, slots=True)
class GameCommands(Generic[Bets, Outcome]):
    """What a game's own services may use, for the tables of one process."""

    bets: BetCommands[Bets, Outcome]
    caves: CaveCommands[Bets, Outcome]
    ended_rounds: EndedRounds[Bets, Outcome]


def round_unknown(round_id: str) -> TableRefused:
    return TableRefused("ROUND_UNKNOWN", "There is no such round.", round_id=round_id)
