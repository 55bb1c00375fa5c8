"""A command of an operator says what it does: leaving a field out does nothing that its author did not mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from feltro.table.v1 import any_topic_pb2
from gateway.contracts.bounds import REQUEST_ID_FIELD, bounds_of
from gateway.contracts.descriptors import message_type
from gateway.contracts.methods import Contracts

CONTRACTS = Contracts()

# Fields of operators' commands that may be left out, and what that does. A field that does something strong when it is
# left out does not belong here: it is `optional`, so that its absence shows, and required.
MAY_BE_LEFT_OUT = {
    "feltro.table.v1.ConfigureTableRequest.effective_at": "the version takes effect at once, as most do",
    "feltro.table.v1.TableConfiguration.betting_window_ms": "refused at a multi-player table, unused at others",
    "feltro.table.v1.TableConfiguration.cancel_forbidden": "players may take bets back",
    "feltro.table.v1.TableConfiguration.dealing_ms": "cards are dealt at once, as where there are none",
    "feltro.table.v1.TableConfiguration.decision_ms": "refused at a multi-player table of a game with decisions",
    "feltro.table.v1.TableConfiguration.open_hand_hours": "refused at an individual table of a game with decisions",
    "feltro.table.v1.TableConfiguration.inactivity": "the regulation's own numbers",
    "feltro.table.v1.TableConfiguration.result_shown_ms": "the result is shown by the next round's picture alone",
    "feltro.table.v1.TableConfiguration.seats": "refused at a multi-player table, unused at others",
    "feltro.table.v1.SetSwitchRequest.table_id": "refused for a switch of one table",
    "feltro.wallet.v1.InactivityPolicy.end_after_seconds": "the regulation's own number",
    "feltro.wallet.v1.InactivityPolicy.idle_seconds": "the regulation's own number",
    "feltro.wallet.v1.InactivityPolicy.missed_rounds": "the regulation's own number",
    "feltro.wallet.v1.InactivityPolicy.rebuy_grace_seconds": "the platform's own number",
    "feltro.wallet.v1.InactivityPolicy.warn_after_seconds": "the platform's own number",
    "feltro.wallet.v1.BlockAccountRequest.reason": "the record has no reason",
    "feltro.wallet.v1.CloseComplaintRequest.text": "the record has no remark",
    "feltro.wallet.v1.DepositRequest.reference": "the transfer has no reference",
    "feltro.wallet.v1.Device.agent": "the record does not name it",
    "feltro.wallet.v1.Device.fingerprint": "the record does not name it",
    "feltro.wallet.v1.Device.kind": "the record does not name it",
    "feltro.wallet.v1.ReviewComplaintRequest.text": "the record has no remark",
    "feltro.wallet.v1.StartSessionRequest.device": "the record does not name it",
    "feltro.wallet.v1.StartSessionRequest.refuses_shared_devices": "a shared device is recorded, and nobody refused",
    "feltro.wallet.v1.UnblockAccountRequest.reason": "the record has no reason",
    "feltro.wallet.v1.WithdrawRequest.reference": "the transfer has no reference",
}


def test_every_field_of_an_operators_command_is_required_or_does_nothing_when_left_out() -> None:
    rules = CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_RULES)
    # A game's rules say it themselves: the test below.
    rules_of_games = {field.full_name for message in rules for field in _fields(message, set())}
    found: set[str] = set()
    for method in CONTRACTS.methods:
        if method.scopes == {"operator"} and not method.is_read_only:
            paths = {name for binding in method.bindings for name in binding.variables}
            found |= {
                field.full_name
                for field in _fields(method.descriptor.input_type, set())
                if not bounds_of(field).required and field.name not in {*paths, REQUEST_ID_FIELD, "address"}
            }
    assert found - rules_of_games == MAY_BE_LEFT_OUT.keys()


def test_a_games_rule_that_is_left_out_says_what_that_does() -> None:
    """A flag is off and a list empty, which needs no word; a number and an enum say it, and all else is required."""
    rules = CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_RULES)
    omitted = [field for message in rules for field in _fields(message, set()) if not bounds_of(field).required]
    assert omitted
    for field in omitted:
        if field.is_repeated or field.type == FieldDescriptor.TYPE_BOOL:
            continue
        if field.enum_type is not None:
            first = CONTRACTS.comment(f"{field.enum_type.full_name}.{field.enum_type.values[0].name}")
            assert first, field.full_name
            assert not re.match(r"Never sent|Refused", first), field.full_name
            continue
        is_number = field.type in {FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64}
        assert is_number or field.has_presence, field.full_name
        said = CONTRACTS.comment(field.full_name)
        assert re.search(r"\bif 0\b|\bif absent\b|\b0\s+for\b|\brequired there\b", said), field.full_name


def test_what_is_required_can_be_told_from_what_is_left_out() -> None:
    """A bool without presence reads as false whether it was sent or not."""
    wrong = [
        field.full_name
        for method in CONTRACTS.methods
        for field in _fields(method.descriptor.input_type, set())
        if bounds_of(field).required and field.type == FieldDescriptor.TYPE_BOOL and not field.has_presence
    ]
    assert wrong == []


def _fields(message: Descriptor, seen: set[str]) -> Iterator[FieldDescriptor]:
    """Yields the fields of a request and of the platform's messages inside it."""
    if message.full_name in seen:
        return
    seen.add(message.full_name)
    for field in message.fields:
        yield field
        if field.type == FieldDescriptor.TYPE_MESSAGE and message_type(field).full_name.startswith("feltro."):
            yield from _fields(message_type(field), seen)
