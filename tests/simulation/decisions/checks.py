"""Checks the decisions of a finished run: each made once, staked, journalled and paid as the cards and rules say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from google.protobuf import text_format
from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, table_pb2
from feltro.wallet.v1.types_pb2 import PLAY_INDIVIDUAL
from services.kit.refusal import Refused
from services.kit.table.banked.commands import BetCommand
from services.kit.table.journal.entries import ActedBy, Moved
from services.wallet.model.state import StakeState
from tests.named_cards import is_card, unpacked
from tests.simulation.caves import checks as caves
from tests.simulation.environment.games import dealt_again

if TYPE_CHECKING:
    from tests.simulation.environment.journal import RoundEntries
    from tests.simulation.environment.world import Command, World

# After these a player does not know whether the decision counts, and sends it again.
_UNCERTAIN = frozenset({"UNAVAILABLE", "TABLE_ELSEWHERE", "OVERLOADED"})
_WORDS = re.compile(r"[A-Za-z0-9]+")


def violations(world: World) -> Iterator[str]:
    """Returns the violations, each beginning with its guarantee or rule."""
    if not world.game.has_decisions:
        return
    for round_id, entries in world.journal.rounds.items():
        if entries.drawn is not None and not entries.drawn.is_lost and round_id not in world.rounds_lost:
            yield from _moves(world, round_id, entries)
        if entries.drawn is not None and round_id not in world.rounds_lost:
            yield from _early_payments(world, round_id, entries)
            yield from _defaults(world, round_id, entries)
    yield from _commands(world)
    yield from _own_views(world)
    yield from _answers_name_no_cards(world)


def stake_ids(world: World, player_id: str) -> set[str]:
    """Returns the ids that the stakes of a player's decisions have, if they were made."""
    account_ids = [account.account_id for account in world.wallet.accounts.values() if account.player_id == player_id]
    return {
        _stake_id(command, account_id)
        for command in world.commands
        for account_id in account_ids
        if command.kind == "act" and command.player_id == player_id
    }


def _stake_id(command: Command, account_id: str) -> str:
    return BetCommand(command.request_id, b"").wallet_request_id(account_id)


# -- what the journal says ---------------------------------------------------------------------------------------------


def _moves(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    """Each decision was possible when it was made, and has staked what it costs."""
    assert entries.drawn is not None
    rules = world.catalogue.rules_in_force(entries.opened.placement_id, entries.opened.configuration_version).rules
    dealt = dealt_again(rules, entries.drawn)
    for position, moved in enumerate(entries.moves, start=1):
        what = f"decision {position} of {round_id}"
        if moved.position != position:
            yield f"G10: {what} is journalled as {moved.position}"
        try:
            wanted = dealt.judge(moved.seat, moved.move)
        except Refused as refused:
            yield f"G12: {what} was made and was not possible ({refused.reason})"
            return
        staked = None if moved.stake is None else (moved.stake.amount_cents, rules.read_bets(moved.stake.bets))
        if staked != (None if wanted is None else (wanted.cents, wanted.bets)):
            yield f"G10: {what} has staked {staked} and costs {wanted}"
        if moved.stake is not None:
            stored = world.wallet.stakes.get(moved.stake.stake_id)
            if stored is None or stored.stake.staked_cents != moved.stake.amount_cents:
                yield f"G10: {what} has a stake that the wallet has not"
        dealt = dealt.after(moved.seat, moved.move, "" if moved.stake is None else moved.stake.stake_id)


def _early_payments(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    """What is decided for good is paid before the next decision, once, and nothing else is (`805/2015:20.a`)."""
    assert entries.drawn is not None
    rules = world.catalogue.rules_in_force(entries.opened.placement_id, entries.opened.configuration_version).rules
    expected: dict[int, dict[str, int]] = {}
    paid: set[str] = set()
    for position in range(len(entries.moves) + 1):
        dealt = dealt_again(rules, entries.drawn, entries.moves[:position])
        due = {stake_id: cents for stake_id, cents in dealt.due_cents().items() if stake_id not in paid}
        if due and dealt.turn is not None:
            expected[position] = due
            paid |= due.keys()
    journalled = {entry.position: dict(entry.payouts) for entry in entries.paid}
    if journalled != expected or len(journalled) != len(entries.paid):
        yield f"805/2015:20.a: {round_id} had to pay {expected} and has paid {journalled}"
    for stored in world.wallet.stakes_of(round_id):
        early = stored.stake.state is StakeState.PAID
        if early != (stored.stake.stake_id in paid):
            yield f"G4: {stored.stake.stake_id} of {round_id} was{'' if early else ' not'} paid before the end"


def _defaults(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    """The clock decides for nobody before their time is up, and for those who are away only where others wait."""
    individual = world.catalogue.rules_in_force(entries.opened.placement_id).configuration.play == PLAY_INDIVIDUAL
    decide_by = {
        turn: at for (of_round, turn), at in world.durability.decisions.first_decide_by.items() if of_round == round_id
    }
    for moved in entries.moves:
        # A turn is named after the decision that it begins with.
        due = decide_by.get(max((turn for turn in decide_by if turn <= moved.position), default=0))
        if moved.acted_by is ActedBy.CLOCK and (due is None or moved.moved_at < due):
            yield f"G12: the clock has made decision {moved.position} of {round_id} at {moved.moved_at}, due {due}"
        if moved.acted_by is ActedBy.AWAY and individual:
            yield f"G12: decision {moved.position} of {round_id} was made for a player whom nobody waits for"
        if moved.acted_by is not ActedBy.PLAYER and moved.stake is not None:
            yield f"G12: decision {moved.position} of {round_id} has staked money of a player who did not decide"


# -- what players asked for and were told ------------------------------------------------------------------------------


def _commands(world: World) -> Iterator[str]:
    """An acknowledged decision is in the journal once; one that was refused for certain has changed nothing."""
    made: Counter[tuple[str, int]] = Counter()
    for command in world.commands:
        if command.kind != "act" or command.round_id in world.rounds_lost:
            continue
        entries = world.journal.rounds.get(command.round_id)
        moves = [] if entries is None else _moves_of(world, command, entries)
        if len(moves) > 1:
            yield f"G3: {command.request_id} has made decisions {[moved.position for moved in moves]}"
        made.update((moved.round_id, moved.position) for moved in moves)
        yield from _answered_truly(world, command, moves)
    for (round_id, position), count in made.items():
        if count > 1:
            yield f"G3: decision {position} of {round_id} is that of {count} commands"
    for round_id, entries in world.journal.rounds.items():
        if round_id in world.rounds_lost:
            continue
        for moved in entries.moves:
            lost = round_id in world.rounds_lost
            if moved.acted_by is ActedBy.PLAYER and not made[round_id, moved.position] and not lost:
                yield f"G10: decision {moved.position} of {round_id} was made by no player"


def _moves_of(world: World, command: Command, entries: RoundEntries) -> list[Moved]:
    """Returns the decisions that a command has made."""
    accounts = {stake.account_id for stake in entries.stakes if stake.player_id == command.player_id}
    own_ids = {_stake_id(command, account_id) for account_id in accounts}
    return [moved for moved in entries.moves if moved.command_id in own_ids]


def _answered_truly(world: World, command: Command, moves: list[Moved]) -> Iterator[str]:
    for answer in command.answers:
        if isinstance(answer, table_pb2.ActResponse):
            yield from _acknowledged(command, answer, moves)
    certain = command.answers and None not in command.answers and not _UNCERTAIN & set(command.refusals)
    if certain and len(command.refusals) == len(command.answers):
        if moves:
            yield f"G12: {command.request_id} was refused ({command.refusals}) and was made"
        yield from _nothing_is_staked(world, command)


def _acknowledged(command: Command, answer: table_pb2.ActResponse, moves: list[Moved]) -> Iterator[str]:
    made = [moved for moved in moves if moved.position == answer.position]
    if not made:
        yield f"G5: {command.request_id} was acknowledged as decision {answer.position}, which it is not"
    elif made[0].move != command.move:
        yield f"G10: {command.request_id} is journalled as another decision"


def _nothing_is_staked(world: World, command: Command) -> Iterator[str]:
    for account in world.wallet.accounts.values():
        stored = world.wallet.stakes.get(_stake_id(command, account.account_id))
        if stored is not None and stored.stake.state is not StakeState.CANCELLED:
            yield f"G12: {command.request_id} was refused ({command.refusals}) and has staked"


def _own_views(world: World) -> Iterator[str]:
    """An own view goes to its player alone, and names no card."""
    for player_id, told in world.own_views.by_player.items():
        for changed in told:
            if not changed.HasField("own_view") or changed.round_id in world.rounds_lost:
                continue
            check = caves.own_view if world.game.has_caves else _own_view
            yield from check(world, player_id, changed)


def _own_view(world: World, player_id: str, changed: events_pb2.OwnViewChanged) -> Iterator[str]:
    rules = world.catalogue.rules_in_force(changed.table_id.partition("-")[0]).rules
    stakes = world.journal.stakes_of(changed.round_id)
    own = {
        place for each in stakes if each.player_id == player_id for place in rules.places(rules.read_bets(each.bets))
    }
    view = unpacked(changed.own_view)
    if not {option.place for option in getattr(view, "options", ())} <= own:
        yield f"G7: {player_id} was told the decisions of another player in {changed.round_id}"
    yield from _names_no_card(f"the own view of {player_id}", view)


def _answers_name_no_cards(world: World) -> Iterator[str]:
    for command in world.commands:
        for answer in command.answers:
            if isinstance(answer, Refused) or (isinstance(answer, Message) and command.kind != "enter"):
                yield from _names_no_card(f"the answer to {command.request_id}", answer)


def _names_no_card(what: str, said: Message | Refused) -> Iterator[str]:
    text = f"{said.sentence} {said.facts}" if isinstance(said, Refused) else text_format.MessageToString(said)
    cards = sorted({word for word in _WORDS.findall(text) if is_card(word)})
    if cards:
        yield f"G7: {what} names {cards}"
