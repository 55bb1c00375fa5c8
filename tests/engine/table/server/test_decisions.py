"""`TableService.Act`: what is refused at the edge, and the one answer that a decision has, wherever it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.access.identity import PLAYER, Caller
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.encoding import packed
from services.kit.table.journal.entries import ActedBy, JournalStake, Moved, Opened
from services.kit.table.refusals import TableRefused
from services.kit.table.server.decisions import Decisions

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
TABLE, ROUND = "salon", "salon.7"
ANA = Caller("ana", frozenset({PLAYER}), 2e9, 0.0, "token")
# Stands for the decision of a game: any message does.
MOVE = types_pb2.LocalizedText(pt="carta", en="hit")


def request(
    request_id: str = "r1", *, round_id: str = ROUND, turn: int = 3, move: Message = MOVE
) -> table_pb2.ActRequest:
    return table_pb2.ActRequest(request_id=request_id, table_id=TABLE, round_id=round_id, turn=turn, move=packed(move))


def digest(of: table_pb2.ActRequest) -> bytes:
    return BetCommand.of(of).digest


# Whose decisions the seats are.
ACCOUNTS = {2: "account-ana", 4: "account-rui"}


def stake(stake_id: str, player_id: str, seat: int, cents: int = 500) -> JournalStake:
    return JournalStake(stake_id, "", player_id, f"account-{player_id}", f"s-{player_id}", seat, cents, b"bets", AT)


def moved(
    position: int, seat: int, request_id: str = "", command_digest: bytes = b"", made: JournalStake | None = None
) -> Moved:
    acted_by = ActedBy.PLAYER if request_id else ActedBy.CLOCK
    command_id = BetCommand(request_id, b"").wallet_request_id(ACCOUNTS[seat]) if request_id else ""
    return Moved(ROUND, position, seat, MOVE.SerializeToString(), acted_by, AT, command_id, command_digest, made)


@dataclass
class RecordedRound:
    """A round in the journal: ana sits on seat 2, rui on seat 4."""

    moves: Sequence[Moved]
    table_id: str = TABLE

    @property
    def opened(self) -> Opened:
        return Opened(ROUND, self.table_id, self.table_id, 7, 1, AT, AT)

    @property
    def stakes(self) -> Sequence[JournalStake]:
        return [stake("s1", "ana", 2), stake("s2", "rui", 4)]


class Table:
    """A live table that answers with a decision, or refuses."""

    def __init__(self, answer: Moved | Refused) -> None:
        self.answer = answer
        self.asked: list[tuple[object, ...]] = []

    async def act(self, *asked: object) -> Moved:
        self.asked.append(asked)
        if isinstance(self.answer, Refused):
            raise self.answer
        return self.answer


class Edge:
    """The decisions of one process, with what lies behind them under the test's control."""

    def __init__(
        self,
        answer: Moved | Refused,
        recorded: RecordedRound | None = None,
        *,
        move_type: type[Message] | None = types_pb2.LocalizedText,
        in_wallet: dict[str, bytes] | None = None,
    ) -> None:
        """`in_wallet` are the digests of commands that have placed stakes, by the wallet's own ids of them."""
        self.table = Table(answer)
        self.rounds_read: list[str] = []
        self._recorded = recorded
        self._in_wallet = in_wallet or {}
        configuration = types_pb2.TableConfiguration(play=wallet_types.PLAY_MULTI_PLAYER)
        version = types_pb2.ConfigurationVersion(configuration=configuration)
        rules = VersionedRules(version, cast("Any", SimpleNamespace(move_type=move_type)))
        self._decisions = Decisions(self._find, lambda _: rules, self._read_round, self._first_answer)

    async def act(self, asked: table_pb2.ActRequest) -> table_pb2.ActResponse:
        return await self._decisions.act(asked, ANA)

    async def refusal(self, asked: table_pb2.ActRequest) -> Refused:
        with pytest.raises(Refused) as raised:
            await self.act(asked)
        return raised.value

    async def _find(self, table_id: str, caller: Caller) -> Table:
        assert (table_id, caller) == (TABLE, ANA)
        return self.table

    async def _read_round(self, round_id: str) -> RecordedRound | None:
        self.rounds_read.append(round_id)
        return self._recorded

    async def _first_answer(self, asked: wallet_pb2.GetFirstAnswerRequest) -> wallet_pb2.GetFirstAnswerResponse:
        if self._in_wallet[asked.request_id] != asked.command_digest:
            raise Refused("REQUEST_REUSED", "Used.", {"request_id": "hashed"})
        return wallet_pb2.GetFirstAnswerResponse(placed=wallet_pb2.PlacedStake(stake_id=asked.request_id))


def turn_over() -> TableRefused:
    return TableRefused("TURN_OVER", "The turn is over.", round_id=ROUND, turn=3, current_turn=5)


async def test_a_decision_reaches_its_table_and_is_answered_with_its_stake() -> None:
    edge = Edge(moved(4, 2, "r1", made=stake("s9", "ana", 2, 700)))
    answer = await edge.act(request())
    assert answer == table_pb2.ActResponse(round_id=ROUND, position=4, staked_cents=700, stake_id="s9")
    assert edge.table.asked == [("ana", BetCommand.of(request()), ROUND, 3, MOVE.SerializeToString())]
    assert edge.rounds_read == []


async def test_a_decision_that_costs_nothing_names_no_stake() -> None:
    assert await Edge(moved(4, 2, "r1")).act(request()) == table_pb2.ActResponse(round_id=ROUND, position=4)


async def test_the_table_gets_only_what_the_game_knows_of_a_decision() -> None:
    edge, asked = Edge(moved(4, 2, "r1")), request()
    # A field that the message does not have.
    asked.move.value += b"\xa2\x06\x05extra"
    await edge.act(asked)
    assert edge.table.asked[0][-1] == MOVE.SerializeToString()


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"request_id": ""}, "request_id"),
        ({"request_id": "a b"}, "request_id"),
        ({"request_id": "x" * 65}, "request_id"),
        ({"table_id": ""}, "table_id"),
        ({"table_id": "a.b"}, "table_id"),
        ({"round_id": ""}, "round_id"),
        ({"round_id": "x" * 129}, "round_id"),
        ({"turn": 0}, "turn"),
        ({"turn": -1}, "turn"),
        ({"move": None}, "move"),
        ({"move": packed(roulette_pb2.Bets())}, "move"),
        ({"move": AnyMessage(type_url="type.googleapis.com/feltro.table.v1.LocalizedText", value=b"\x0a\xff")}, "move"),
    ],
)
async def test_g12_a_call_that_names_no_decision_is_refused_at_the_edge(change: dict[str, Any], field: str) -> None:
    edge, asked = Edge(moved(4, 2, "r1")), request()
    for name, value in change.items():
        cast("Message", asked).ClearField(name)
        if isinstance(value, Message):
            getattr(asked, name).CopyFrom(value)
        elif value is not None:
            setattr(asked, name, value)
    refused = await edge.refusal(asked)
    assert (refused.reason, refused.facts["field"]) == ("INVALID", field)
    assert not edge.table.asked
    assert not edge.rounds_read


async def test_a_game_without_decisions_has_none() -> None:
    edge = Edge(moved(4, 2, "r1"), move_type=None)
    refused = await edge.refusal(request())
    assert (refused.reason, refused.facts) == ("WRONG_PLAY", {"table_id": TABLE, "play": "PLAY_MULTI_PLAYER"})
    assert edge.table.asked == []


GONE = [
    turn_over(),
    TableRefused("NOT_YOUR_TURN", "It is for another.", place=1, turn_of=2),
    TableRefused("DECISION_ILLEGAL", "It was made."),
    refusals.not_seated(TABLE),
    refusals.table_unknown(TABLE),
]


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("refused", GONE, ids=lambda refused: refused.reason)
async def test_g3_a_decision_that_has_counted_gets_its_first_answer_from_the_journal(refused: TableRefused) -> None:
    """The table has moved to another process, the round is over, or the player has left since."""
    made = moved(2, 2, "r1", digest(request()), stake("s9", "ana", 2, 700))
    edge = Edge(refused, RecordedRound([moved(1, 4), made, moved(3, 2)]))
    assert await edge.act(request()) == table_pb2.ActResponse(
        round_id=ROUND, position=2, staked_cents=700, stake_id="s9"
    )
    assert edge.rounds_read == [ROUND]


@pytest.mark.guarantee("G3")
async def test_g3_a_used_request_id_is_refused_for_another_decision() -> None:
    edge = Edge(turn_over(), RecordedRound([moved(1, 2, "r1", digest(request(turn=1)))]))
    refused = await edge.refusal(request(turn=3))
    assert (refused.reason, refused.facts) == ("REQUEST_REUSED", {"request_id": "r1"})


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize(
    "recorded",
    [
        None,
        RecordedRound([]),
        RecordedRound([moved(1, 4, "r1", digest(request()))]),
        RecordedRound([moved(1, 2, "r1", digest(request()))], table_id="other"),
        RecordedRound([moved(1, 2), moved(2, 2, "r2", digest(request()))]),
    ],
    ids=["no round", "no decision", "another player's", "another table's", "other commands"],
)
async def test_g7_a_decision_that_has_not_counted_stays_refused(recorded: RecordedRound | None) -> None:
    assert (await Edge(turn_over(), recorded).refusal(request())).reason == "TURN_OVER"


@pytest.mark.guarantee("G3")
async def test_g3_a_decision_that_a_later_owner_knows_by_its_stake_alone_is_found_by_it() -> None:
    """Its owner ended between the stake and the journal: the next owner found the stake in the ledger."""
    adopted = moved(2, 2, "r1", made=stake("s9", "ana", 2, 700))
    edge = Edge(
        turn_over(), RecordedRound([moved(1, 2), adopted]), in_wallet={adopted.command_id: digest(request(turn=3))}
    )
    assert (await edge.act(request())).position == 2
    assert (await edge.refusal(request("r2"))).reason == "TURN_OVER"
    # The wallet knows what it was for.
    reused = await edge.refusal(request(turn=4))
    assert (reused.reason, reused.facts) == ("REQUEST_REUSED", {"request_id": "r1"})


@pytest.mark.parametrize(
    "refused",
    [
        TableRefused("TABLE_ELSEWHERE", "Ask there.", table_id=TABLE, address=""),
        refusals.unavailable("The wallet does not answer"),
        refusals.overloaded("commands"),
        refusals.request_reused("r1"),
    ],
    ids=lambda refused: refused.reason,
)
async def test_what_says_nothing_about_the_decision_is_passed_on(refused: TableRefused) -> None:
    edge = Edge(refused, RecordedRound([moved(1, 2, "r1", digest(request()))]))
    assert await edge.refusal(request()) is refused
    assert edge.rounds_read == []


async def test_refusals_of_the_wallet_pass_and_name_the_players_own_request() -> None:
    funds = Refused("INSUFFICIENT_FUNDS", "Not enough.", {"free_cents": "1"})
    assert await Edge(funds).refusal(request()) is funds
    reused = await Edge(Refused("REQUEST_REUSED", "Used.", {"request_id": "hashed"})).refusal(request())
    assert reused.facts == {"request_id": "r1"}
