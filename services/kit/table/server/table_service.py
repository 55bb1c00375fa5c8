"""Answers the calls of the TableService, the same for the tables of every game."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from typing import Generic

from google.protobuf.message import Message

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.access.identity import DEMO, PLAYER, Caller
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.configuration.cache import CatalogueCache
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.configuration.switches import REASON_CHARACTERS_LIMIT, Switches
from services.kit.table.configuration.versions import Configurations
from services.kit.table.encoding import packed
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.journal import round_messages
from services.kit.table.journal.history import PlayerRound, RecordedRound, RoundHistory
from services.kit.table.journal.open_rounds import OpenRounds
from services.kit.table.journal.replay import hands
from services.kit.table.journal.replay import pages as replay_pages
from services.kit.table.journal.replay.computation import RoundReplay
from services.kit.table.journal.sealing import CannotUnseal, EntropyKeys
from services.kit.table.live.table import LiveTable
from services.kit.table.owned.registry import TableRegistry
from services.kit.table.paging import page_by_key, page_request
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat
from services.kit.table.server import validation
from services.kit.table.server.decisions import Decisions
from services.kit.table.server.table_clock import TableClock
from services.kit.table.wallet.client import Wallet, get_whole_round
from services.kit.table.wallet.registration import TableRegistrar
from services.kit.wire_format import timestamp

LANGUAGES = ("pt", "en")


class TableService(Generic[Bets, Outcome]):
    """One method for each rpc; table.proto says what each promises."""

    descriptor = table_pb2.DESCRIPTOR.services_by_name["TableService"]

    def __init__(
        self,
        game: Game[Bets, Outcome],
        registry: TableRegistry[Bets, Outcome],
        catalogue: CatalogueCache[Bets, Outcome],
        configurations: Configurations,
        switches: Switches,
        history: RoundHistory,
        wallet: Wallet,
        registrar: TableRegistrar,
        clock: TableClock,
        seated: Callable[[str], int],
        entropy_keys: EntropyKeys,
    ) -> None:
        """`seated` says how many players sit at the tables of a placement, whichever process runs them."""
        self._game = game
        self._registry = registry
        self._catalogue = catalogue
        self._configurations = configurations
        self._switches = switches
        self._history = history
        self._open_rounds = OpenRounds(game.name, wallet, history)
        self._decisions = Decisions(
            registry.table, registry.configured_rules, history.round_for_replay, wallet.get_first_answer
        )
        self._wallet = wallet
        self._registrar = registrar
        self._clock = clock
        self._seated = seated
        self._entropy_keys = entropy_keys

    # -- finding and entering --------------------------------------------------------------------------------------

    async def list_tables(self, request: table_pb2.ListTablesRequest, caller: Caller) -> table_pb2.ListTablesResponse:
        self._verify_game(request.game)
        if request.mode not in wallet_types.Mode.values():
            raise refusals.invalid("mode", "has to be MODE_REAL or MODE_DEMO, or not given.")
        versions = {each: self._catalogue.rules_in_force(each).version for each in self._catalogue.placement_ids()}
        wanted = (
            (placement_id, version)
            for placement_id, version in versions.items()
            # Nobody enters a tournament: it has a lobby of its own.
            if request.mode in {0, version.configuration.mode}
            and version.configuration.play != wallet_types.PLAY_TOURNAMENT
        )
        page = page_by_key(wanted, request.page_size, request.page_token)
        return table_pb2.ListTablesResponse(
            tables=[
                types_pb2.TableSummary(
                    table_id=version.table_id,
                    configuration=version.configuration,
                    configuration_version=version.version,
                    enabled=self._catalogue.closed_reason(version.table_id) is None,
                    seated=self._seated(version.table_id),
                )
                for version in page.items
            ],
            at=timestamp(self._clock.now()),
            next_page_token=page.next_page_token,
        )

    async def get_table(self, request: table_pb2.GetTableRequest, caller: Caller) -> table_pb2.GetTableResponse:
        table = await self._registry.table(validation.table_id(request.table_id), caller)
        own_seat = await _own_seat(table, table.seat_of(caller.subject))
        return table_pb2.GetTableResponse(table=table.snapshot(), own_seat=own_seat)

    async def get_rules(self, request: table_pb2.GetRulesRequest, caller: Caller) -> table_pb2.GetRulesResponse:
        placement_id = self._registry.placement_id_of(validation.table_id(request.table_id))
        version = self._catalogue.rules_in_force(placement_id).version
        language = request.language if request.language in LANGUAGES else LANGUAGES[0]
        return table_pb2.GetRulesResponse(
            text=self._game.rules_text(version.configuration, language),
            language=language,
            configuration_version=version.version,
        )

    async def enter_table(self, request: table_pb2.EnterTableRequest, caller: Caller) -> table_pb2.EnterTableResponse:
        validation.table_id(request.table_id)
        validation.request_id(request.request_id)
        validation.wanted_seat(request.seat)
        self._verify_may_play(request.table_id, caller)
        table, started = await self._registry.enter(validation.player_id(caller.subject), request)
        own_seat = await _own_seat(table, table.seat_of(caller.subject))
        return table_pb2.EnterTableResponse(
            table=table.snapshot(),
            own_seat=own_seat,
            session=started.session,
            previous_session_started_at=(
                started.previous_session_started_at if started.HasField("previous_session_started_at") else None
            ),
            previous_session_ended_at=(
                started.previous_session_ended_at if started.HasField("previous_session_ended_at") else None
            ),
        )

    async def act(self, request: table_pb2.ActRequest, caller: Caller) -> table_pb2.ActResponse:
        return await self._decisions.act(request, caller)

    # -- looking rounds up -----------------------------------------------------------------------------------------

    async def list_table_rounds(
        self, request: table_pb2.ListTableRoundsRequest, caller: Caller
    ) -> table_pb2.ListTableRoundsResponse:
        self._registry.verify_visible(validation.table_id(request.table_id), caller)
        page = await self._history.list_table_rounds(
            request.table_id, page_request(request.page_size, request.page_token)
        )
        return table_pb2.ListTableRoundsResponse(
            rounds=[await self._table_round(round_) for round_ in page.items],
            next_page_token=page.next_page_token,
        )

    async def list_player_rounds(
        self, request: table_pb2.ListPlayerRoundsRequest, caller: Caller
    ) -> table_pb2.ListPlayerRoundsResponse:
        self._verify_game(request.game)
        validation.verify_may_see(caller, validation.player_id(request.player_id))
        table_id = validation.table_id(request.table_id) if request.table_id else None
        requested = page_request(request.page_size, request.page_token)
        undrawn: list[PlayerRound] = []
        if request.include_taking_bets and not request.page_token:
            # Read first: a round that is drawn before the next read is found there, so that none is missed.
            undrawn = await self._open_rounds.of_player(request.player_id, table_id)
        page = await self._history.list_player_rounds(
            request.player_id, requested, table_id=table_id, open_only=request.open_only
        )
        drawn = {each.round.round_id for each in page.items}
        recorded = [*(each for each in undrawn if each.round.round_id not in drawn), *page.items]
        rounds = [await self._player_round(each) for each in recorded]
        return table_pb2.ListPlayerRoundsResponse(rounds=rounds, next_page_token=page.next_page_token)

    async def _table_round(self, round_: RecordedRound) -> table_pb2.TableRound:
        return round_messages.table_round(round_, (await self._rules_of(round_)).rules)

    async def _player_round(self, recorded: PlayerRound) -> table_pb2.PlayerRound:
        return round_messages.player_round(recorded, await self._rules_of(recorded.round))

    async def _rules_of(self, round_: RecordedRound) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules that a round was opened under: no others can read its outcome."""
        return await self._catalogue.rules_of_version(round_.placement_id, round_.configuration_version)

    async def replay_round(
        self, request: table_pb2.ReplayRoundRequest, caller: Caller
    ) -> table_pb2.ReplayRoundResponse:
        self._verify_game(request.game)
        record = await self._history.round_for_replay(validation.round_id(request.round_id))
        if record is None:
            raise TableRefused("ROUND_UNKNOWN", "There is no such round.", round_id=request.round_id)
        versioned_rules = await self._catalogue.rules_of_version(
            record.opened.placement_id, record.opened.configuration_version
        )
        ledger: wallet_pb2.Round | None
        play = versioned_rules.configuration.play
        moved = hands.NOTHING_MOVED if hands.is_for_chips(play) else None
        try:
            ledger = await get_whole_round(self._wallet.get_round, request.round_id)
            if hands.is_hand(play):
                moved = await hands.read_moved(self._wallet.list_transactions, request.round_id)
        except Refused as refused:
            if refused.reason != "ROUND_UNKNOWN":
                raise
            ledger = None
        with suppress(CannotUnseal):
            record = record.unsealed(self._entropy_keys)
        answer = RoundReplay(record, versioned_rules.version, versioned_rules.rules, ledger, moved).compute()
        return replay_pages.page(answer, request.page_token)

    # -- operators' commands ---------------------------------------------------------------------------------------

    async def configure_table(
        self, request: table_pb2.ConfigureTableRequest, caller: Caller
    ) -> table_pb2.ConfigureTableResponse:
        version = await self._configurations.add_version(
            request_id=validation.request_id(request.request_id),
            table_id=request.table_id,
            configuration=request.configuration,
            approval_reference=request.approval_reference,
            effective_at=request.effective_at.ToDatetime(UTC) if request.HasField("effective_at") else None,
            entered_by=caller.subject,
            game=self._game,
            register=self._registrar.register,
        )
        await self._catalogue.refresh()
        return table_pb2.ConfigureTableResponse(version=version)

    async def list_configurations(
        self, request: table_pb2.ListConfigurationsRequest, caller: Caller
    ) -> table_pb2.ListConfigurationsResponse:
        requested = page_request(request.page_size, request.page_token)
        page = await self._configurations.page(validation.table_id(request.table_id), requested)
        if not page.items and requested.position is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=request.table_id)
        return table_pb2.ListConfigurationsResponse(
            versions=[version for version, _ in page.items],
            changes=[change for _, change in page.items],
            next_page_token=page.next_page_token,
        )

    async def set_switch(self, request: table_pb2.SetSwitchRequest, caller: Caller) -> table_pb2.SetSwitchResponse:
        self._verify_game(request.game)
        if not request.HasField("enabled"):
            raise refusals.invalid("enabled", "has to be given: true or false.")
        switch = await self._switches.set_switch(
            request_id=validation.request_id(request.request_id),
            scope=request.scope,
            table_id=request.table_id,
            enabled=request.enabled,
            reason=request.reason,
            set_by=caller.subject,
        )
        await self._catalogue.refresh()
        return table_pb2.SetSwitchResponse(switch=switch)

    async def list_switches(
        self, request: table_pb2.ListSwitchesRequest, caller: Caller
    ) -> table_pb2.ListSwitchesResponse:
        self._verify_game(request.game)
        page = await self._switches.list_switches(page_request(request.page_size, request.page_token))
        return table_pb2.ListSwitchesResponse(switches=page.items, next_page_token=page.next_page_token)

    async def void_open_round(
        self, request: table_pb2.VoidOpenRoundRequest, caller: Caller
    ) -> table_pb2.VoidOpenRoundResponse:
        table_id, round_id = validation.table_id(request.table_id), validation.round_id(request.round_id)
        reason = validation.required_text("reason", request.reason, REASON_CHARACTERS_LIMIT)
        # Its table is closed until the round has ended.
        if not await self._registry.void_unreadable_round(table_id, round_id, reason):
            table = await self._registry.table(table_id, caller)
            await table.void_open_round(round_id, reason)
        return table_pb2.VoidOpenRoundResponse()

    async def advance_table_clock(
        self, request: table_pb2.AdvanceTableClockRequest, caller: Caller
    ) -> table_pb2.AdvanceTableClockResponse:
        self._verify_game(request.game)
        at = await self._clock.advance(validation.positive_milliseconds("by_ms", request.by_ms))
        return table_pb2.AdvanceTableClockResponse(at=timestamp(at))

    def _verify_may_play(self, table_id: str, caller: Caller) -> None:
        """Refuses a guest of a demonstration at a table for money (`804/2015:30`): they never have an account there."""
        mode = self._registry.rules_in_force(table_id, caller).configuration.mode
        if DEMO in caller.scopes and mode != wallet_types.MODE_DEMO:
            sentence = "A guest plays for credits, at demonstration tables. Log in to play for money."
            raise TableRefused("SCOPE_MISSING", sentence, needed=PLAYER)

    def _verify_game(self, game: str) -> None:
        if game != self._game.name:
            raise refusals.invalid("game", f"has to be `{self._game.name}` here.")


async def _own_seat(table: LiveTable[Bets, Outcome], seat: Seat | None) -> table_pb2.OwnSeat | None:
    if seat is None:
        return None
    own = table_pb2.OwnSeat(seat=seat.number, session_id=seat.session_id, account_id=seat.account_id)
    round_ = table.round
    if round_ is not None:
        for stake in round_.felt.accepted_stakes_of(seat.player_id):
            bets: Message = round_.rules.bets_message(stake.bets)
            own.stakes.add(stake_id=stake.stake_id, amount_cents=stake.amount_cents, bets=packed(bets))
        own_view = await table.own_view(seat.player_id)
        if own_view is not None:
            own.own_view.CopyFrom(packed(own_view))
    own_cave, own_chips = table.own_cave(seat.player_id), table.own_chips(seat.player_id)
    if own_cave is not None:
        own.cave.CopyFrom(own_cave)
    if own_chips is not None:
        own.chips.CopyFrom(own_chips)
    return own
