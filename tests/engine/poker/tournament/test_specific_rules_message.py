"""Specific rules of tournaments as messages: they read back as they were written, and refusals name their field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from feltro.poker.v1 import tournament_rules_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.refusals import TableRefused
from services.poker.tournament import specific_rules_message
from services.poker.tournament.levels import Level
from services.poker.tournament.payouts import PayoutRow
from services.poker.tournament.price import Price
from services.poker.tournament.specific_rules import (
    Approval,
    CancelPolicy,
    PayWhen,
    Start,
    TicketPrize,
    TournamentRules,
    default_rules,
)
from services.poker.variant import Variant

Message = tournament_rules_pb2.TournamentRules

STARTS_AT = datetime(2026, 12, 1, 21, 0, tzinfo=UTC)
PRICE = Price(1000, 100)
NET = frozenset({Approval.NET_OF_AWARDED})


def made(**chosen: object) -> TournamentRules:
    return default_rules(Variant.HOLDEM, PRICE, **chosen)


def configured(message: Message) -> types_pb2.TableConfiguration:
    """Builds the configuration of a tournament with these rules."""
    configuration = types_pb2.TableConfiguration(game="poker", regulation="810/2015", play=wallet_types.PLAY_TOURNAMENT)
    configuration.rules.Pack(message)
    return configuration


def message_of(rules: TournamentRules) -> Message:
    return specific_rules_message.message_of(rules, STARTS_AT if rules.start is Start.SCHEDULED else None)


def refusal(configuration: types_pb2.TableConfiguration) -> TableRefused:
    with pytest.raises(TableRefused) as caught:
        specific_rules_message.read(configuration)
    return caught.value


@pytest.mark.parametrize(
    "rules",
    [
        made(),
        made(start=Start.ON_FULL, seats=6),
        made(
            levels=(Level(50, 100, 600, 300), Level(100, 200, 600)),
            payouts=(PayoutRow(2, (10_000,)), PayoutRow(200, (6_000, 4_000))),
            late_reg_until_level=1,
            reentry_until_level=1,
            rebuy_until_level=1,
            rebuys_max=2,
            rebuy_price=Price(900, 90),
        ),
        made(satellite=TicketPrize("sunday", 10_900), replacement_tournament="monday"),
        default_rules(Variant.OMAHA, Price(0, 0), guarantee_cents=10_000, time_bank_seconds=0),
    ],
)
def test_rules_read_back_as_they_were_written(rules: TournamentRules) -> None:
    read, starts_at = specific_rules_message.read(configured(message_of(rules)))
    assert read == rules
    assert starts_at == (STARTS_AT if rules.start is Start.SCHEDULED else None)


def test_the_tournaments_that_entries_are_for() -> None:
    both = made(satellite=TicketPrize("sunday", 10_900), replacement_tournament="monday")
    assert specific_rules_message.targets_of(configured(message_of(both))) == {"sunday", "monday"}
    assert specific_rules_message.targets_of(configured(message_of(made()))) == frozenset()


def _another_regulation(configuration: types_pb2.TableConfiguration) -> None:
    configuration.regulation = "806/2015"


def _another_play(configuration: types_pb2.TableConfiguration) -> None:
    configuration.play = wallet_types.PLAY_POKER


def _another_message(configuration: types_pb2.TableConfiguration) -> None:
    configuration.rules.Pack(types_pb2.LocalizedText())


def _unreadable(configuration: types_pb2.TableConfiguration) -> None:
    configuration.rules.value = b"\xff"


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (_another_regulation, "regulation"),
        (_another_play, "play"),
        (_another_message, "rules"),
        (_unreadable, "rules"),
    ],
)
def test_g12_what_is_no_tournament_is_refused(
    spoil: Callable[[types_pb2.TableConfiguration], None], field: str
) -> None:
    configuration = configured(message_of(made()))
    spoil(configuration)
    refused = refusal(configuration)
    assert (refused.reason, refused.facts) == ("INVALID", {"field": f"configuration.{field}"})


def _no_start(message: Message) -> None:
    message.ClearField("starts_at")


def _start_of_a_sit_and_go(message: Message) -> None:
    message.start = specific_rules_message.message_of(made(start=Start.ON_FULL), None).start


def _fee_alone(message: Message) -> None:
    message.price.CopyFrom(tournament_rules_pb2.TournamentPrice(fee_cents=100))


def _guarantee_paid_on_elimination(message: Message) -> None:
    net = made(cancel_policy=CancelPolicy.NET_OF_AWARDED, approvals=NET, pay_when=PayWhen.AT_END)
    message.CopyFrom(message_of(net))
    message.guarantee_cents = 10_000
    message.pay_when = message_of(made(pay_when=PayWhen.ON_ELIMINATION)).pay_when


def _no_such_word(message: Message) -> None:
    # As a client of a later release may send it.
    message.cancel_policy = 99  # type: ignore[assignment]


def _of_another_regulation(message: Message) -> None:
    message.regulation = "804/2015"


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (_no_start, "starts_at"),
        (_start_of_a_sit_and_go, "starts_at"),
        (_fee_alone, "price"),
        (_guarantee_paid_on_elimination, "pay_when"),
        (_no_such_word, "cancel_policy"),
        (_of_another_regulation, "regulation"),
    ],
)
def test_a_refusal_names_the_field(spoil: Callable[[Message], None], field: str) -> None:
    message = message_of(made())
    spoil(message)
    refused = refusal(configured(message))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": f"configuration.rules.{field}"})
