"""Won entries: which tournament may promise them for which other one (32), and who can enter by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import ticket_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.refusal import Refused
from services.kit.table.refusals import TableRefused, specific_rule_violated
from services.kit.table.server.tournaments import TournamentParts
from services.kit.table.wallet.client import WalletUnanswered
from services.poker.tournament import refusals, specific_rules_message
from services.poker.tournament.refusals import rule
from services.poker.tournament.specific_rules import FreerollTicket, TournamentRules

# Tickets of one player to one tournament that are shown: nobody wins more (G11).
TICKETS_LIMIT = 50


class _Target(NamedTuple):
    """A tournament for which entries are promised."""

    rules: TournamentRules
    starts_at: datetime | None


class WonEntries:
    """The tickets between the tournaments of a game."""

    def __init__(self, parts: TournamentParts) -> None:
        self._parts = parts
        # Tournaments for which others promise entries, and the tournaments that were looked through for them.
        self._targets: set[str] = set()
        self._known: set[str] = set()

    # -- what is promised --------------------------------------------------------------------------------------------

    async def verify(self, tournament_id: str, configuration: types_pb2.TableConfiguration) -> None:
        """Refuses a new tournament whose prizes or replacements are entries that it cannot promise (32, 37).

        Each is for one later tournament of the same mode, at its price.
        """
        rules, starts_at = specific_rules_message.read(configuration)
        begins = starts_at or self._parts.clock.now()
        mode = configuration.mode
        if rules.satellite is not None:
            field, target_id = "satellite.tournament_id", rules.satellite.tournament
            target = await self._target(field, tournament_id, target_id, mode, begins)
            price_cents = target.rules.price.total_cents
            if price_cents != rules.satellite.value_cents:
                sentence = f"A ticket is worth the entry that it pays, which costs {price_cents} cents"
                raise _violated("satellite.value_cents", price_cents, "32", sentence)
            promised = target.rules.freeroll_ticket is FreerollTicket.CASH or target.rules.replacement_tournament
            if rules.is_freeroll and not promised:
                sentence = (
                    "An entry won in a freeroll is replaced at a cancellation, and the tournament names none for it"
                )
                raise _violated(field, target_id, "37", sentence)
        if rules.replacement_tournament:
            field = "replacement_tournament_id"
            target = await self._target(field, tournament_id, rules.replacement_tournament, mode, begins)
            if target.rules.price != rules.price:
                sentence = "A ticket that replaces another is for a tournament of the same price"
                raise _violated(field, rules.price.total_cents, "37", sentence)

    async def _target(
        self, field: str, tournament_id: str, target_id: str, mode: wallet_types.Mode.ValueType, begins: datetime
    ) -> _Target:
        """Returns the tournament that a ticket would be for; refuses one that is not predetermined and later."""
        version = None if target_id == tournament_id else await self._parts.configurations.version(target_id, 1)
        if version is None or version.configuration.play != wallet_types.PLAY_TOURNAMENT:
            raise _violated(field, target_id, "32", "An entry that is won is one to another tournament, which exists")
        if version.configuration.mode != mode:
            raise _violated(field, target_id, "32", "Real and demonstration money are apart")
        target = _Target(*specific_rules_message.read(version.configuration))
        is_over = await self._parts.facts.closed_summary(target_id) is not None
        if is_over or target.starts_at is None or target.starts_at <= begins:
            sentence = "An entry that is won is one to a future tournament, at a fixed time"
            raise _violated(field, target_id, "32", sentence)
        return target

    async def verify_open(self, rules: TournamentRules) -> None:
        """Refuses an entry to a satellite whose prizes nobody could use any more."""
        if rules.satellite is None:
            return
        target_id = rules.satellite.tournament
        version = await self._parts.configurations.version(target_id, 1)
        starts_at = None if version is None else specific_rules_message.read(version.configuration)[1]
        is_over = await self._parts.facts.closed_summary(target_id) is not None
        if is_over or starts_at is None or starts_at <= self._parts.clock.now():
            raise refusals.registration_closed("the tournament that it gives entries to has begun, or is over")

    # -- who has one -------------------------------------------------------------------------------------------------

    async def usable(
        self, tournament_id: str, player_id: str, mode: wallet_types.Mode.ValueType
    ) -> Sequence[ticket_pb2.Ticket]:
        """Returns the tickets with which a player can enter a tournament; none while the wallet is away.

        The wallet is asked about tournaments alone for which others promise entries.
        """
        if not self._is_target(tournament_id):
            return ()
        wallet = self._parts.wallet
        try:
            account = await wallet.find_account(wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode))
            found = await wallet.list_tickets(
                ticket_pb2.ListTicketsRequest(
                    account_id=account.balance.account_id,
                    tournament_id=tournament_id,
                    open_only=True,
                    page_size=TICKETS_LIMIT,
                )
            )
        except (Refused, WalletUnanswered):
            # The player has no account, or the tournament can be looked at all the same.
            return ()
        return found.tickets

    def _is_target(self, tournament_id: str) -> bool:
        """Looks through the tournaments that were created since: what one of them promises never changes."""
        catalogue = self._parts.catalogue
        for placement_id in catalogue.placement_ids() - self._known:
            configuration = catalogue.rules_in_force(placement_id).version.configuration
            self._known.add(placement_id)
            if configuration.play == wallet_types.PLAY_TOURNAMENT:
                self._targets |= specific_rules_message.targets_of(configuration)
        return tournament_id in self._targets


def _violated(field: str, bound: str | int, paragraph: str, sentence: str) -> TableRefused:
    return specific_rule_violated(field, bound, rule(paragraph), sentence)
