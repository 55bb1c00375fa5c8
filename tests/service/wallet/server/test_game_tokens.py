"""A token of scope `game` acts on the tables of its own game: every method of the wallet, with another game's token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

import asyncpg
import grpc
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from feltro.access.v1 import access_pb2
from feltro.wallet.v1 import (
    audit_pb2,
    complaint_pb2,
    platform_pb2,
    relevant_events_pb2,
    revocation_pb2,
    session_pb2,
    ticket_pb2,
    tournament_pb2,
    types_pb2,
    wallet_pb2,
)
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import Seat, WalletClient, refusal_facts, refusal_reason

pytestmark = pytest.mark.guarantee("G12")

FILES = (
    wallet_pb2,
    session_pb2,
    complaint_pb2,
    platform_pb2,
    relevant_events_pb2,
    audit_pb2,
    revocation_pb2,
    tournament_pb2,
    ticket_pb2,
)
SERVICES: list[ServiceDescriptor] = [service for file in FILES for service in file.DESCRIPTOR.services_by_name.values()]
# They are about no table: a player's account is found before there is a session, and the switch is that of all games.
ABOUT_NO_TABLE = {"FindAccount", "ListPlatformSwitches"}
# Rows that change by themselves.
_VOLATILE = ("alembic_version", "outbox", "outbox_cursor", "session_clock")
ROULETTE, CARDS, TOURNAMENT, SATELLITE = "salon", "cards", "sunday", "satellite"
Metadata = tuple[tuple[str, str], ...]


def methods(*, of_games: bool) -> list[MethodDescriptor]:
    """The methods that the scope `game` may call, or all others."""
    return [
        method
        for service in SERVICES
        for method in service.methods
        if (access_pb2.SCOPE_GAME in method.GetOptions().Extensions[access_pb2.access].scopes) is of_games
    ]


@dataclass(frozen=True)
class World:
    """What roulette's service has at its tables, and another game's token."""

    client: WalletClient
    channel: grpc.aio.Channel
    seat: Seat
    cards_seat: Seat
    stake_id: str
    # To the tournament.
    ticket_id: str
    round_: types_pb2.RoundRef
    stranger: Metadata

    async def call(self, method: MethodDescriptor, request: Message, metadata: Metadata) -> Message:
        assert method.containing_service is not None
        path = f"/{method.containing_service.full_name}/{method.name}"
        answer = message_factory.GetMessageClass(method.output_type)
        call: grpc.aio.UnaryUnaryMultiCallable[Message, Message] = self.channel.unary_unary(
            path, request_serializer=lambda sent: sent.SerializeToString(), response_deserializer=answer.FromString
        )
        return await call(request, metadata=metadata)

    async def refusal(self, method: MethodDescriptor, request: Message, metadata: Metadata) -> grpc.aio.AioRpcError:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await self.call(method, request, metadata)
        return refused.value


@pytest.fixture
async def world(wallet_client: WalletClient) -> World:
    client = wallet_client
    table = await client.open_table(ROULETTE)
    await client.open_table(CARDS, play=types_pb2.PLAY_POKER)
    await client.open_table(TOURNAMENT, play=types_pb2.PLAY_TOURNAMENT)
    satellite = await client.open_table(SATELLITE, play=types_pb2.PLAY_TOURNAMENT)
    seat, cards_seat = await client.sit_down("ana", ROULETTE, 10_000), await client.sit_down("rui", CARDS, 10_000)
    round_ = types_pb2.RoundRef(round_id="salon.1", table=table)
    placed = await client.place(seat, round_, 100, "salon.1:a")
    buy_in = wallet_pb2.BuyInRequest(
        request_id="cards:in",
        table=types_pb2.TableRef(table_id=CARDS, epoch=1),
        account_id=cards_seat.account_id,
        session_id=cards_seat.session_id,
        amount_cents=1_000,
    )
    await client.wallet.BuyIn(buy_in, metadata=client.game)
    prize = tournament_pb2.Award(
        account_id=seat.account_id,
        reason=tournament_pb2.AWARD_REASON_PRIZE,
        amount_cents=100,
        ticket=tournament_pb2.TicketPrize(tournament_id=TOURNAMENT),
    )
    awarded = tournament_pb2.PayOutRequest(
        request_id="satellite:prize", tournament=satellite, awards=[prize], overlay_cents=100
    )
    (won,) = (await client.tournaments.PayOut(awarded, metadata=client.game)).tickets
    stranger = client.bearer("game", "poker")
    return World(client, client.channel, seat, cards_seat, placed.stake_id, won.ticket_id, round_, stranger)


def registration(table_id: str, game: str) -> wallet_pb2.RegisterTableRequest:
    return wallet_pb2.RegisterTableRequest(
        table_id=table_id,
        game=game,
        regulation="804/2015",
        mode=types_pb2.MODE_REAL,
        play=types_pb2.PLAY_MULTI_PLAYER,
    )


def opening(table_id: str, game: str, epoch: int = 1) -> wallet_pb2.OpenTableRequest:
    return wallet_pb2.OpenTableRequest(
        table=types_pb2.TableRef(table_id=table_id, epoch=epoch),
        game=game,
        regulation="804/2015",
        mode=types_pb2.MODE_REAL,
        play=types_pb2.PLAY_MULTI_PLAYER,
    )


def requests_of(world: World) -> Mapping[str, Message]:
    """A request for each method that roulette's own service is answered for, in an order in which each succeeds."""
    table = types_pb2.TableRef(table_id=ROULETTE, epoch=2)
    cards = types_pb2.TableRef(table_id=CARDS, epoch=1)
    tournament = types_pb2.TableRef(table_id=TOURNAMENT, epoch=1)
    seat, cards_seat, round_ = world.seat, world.cards_seat, types_pb2.RoundRef(round_id="salon.1", table=table)

    def order() -> wallet_pb2.StakeOrder:
        return wallet_pb2.StakeOrder(
            request_id=f"salon.1:{uuid4()}", account_id=seat.account_id, session_id=seat.session_id, amount_cents=100
        )

    single, many = order(), [order(), order()]
    first, *payouts = [wallet_pb2.StakePayout(stake_id=each.request_id, payout_cents=0) for each in (single, *many)]
    hand = wallet_pb2.SeatInHand(
        account_id=cards_seat.account_id, session_id=cards_seat.session_id, staked_cents=100, won_cents=90
    )
    return {
        "RegisterTable": registration(ROULETTE, "roulette"),
        "OpenTable": opening(ROULETTE, "roulette", epoch=2),
        "PlaceStake": wallet_pb2.PlaceStakeRequest(round=round_, order=single),
        "PlaceStakes": wallet_pb2.PlaceStakesRequest(round=round_, orders=many),
        "CancelStakes": wallet_pb2.CancelStakesRequest(
            request_id="salon.1:a:back",
            round=round_,
            account_id=seat.account_id,
            stakes=[wallet_pb2.StakeToCancel(stake_id=world.stake_id)],
        ),
        "GetFirstAnswer": wallet_pb2.GetFirstAnswerRequest(request_id=world.stake_id),
        "AnnounceRound": session_pb2.AnnounceRoundRequest(table=table, round_id="salon.1"),
        "ListOpenRounds": wallet_pb2.ListOpenRoundsRequest(table_id=ROULETTE),
        "GetRound": wallet_pb2.GetRoundRequest(round_id="salon.1"),
        "ListTransactions": wallet_pb2.ListTransactionsRequest(round_id="salon.1"),
        "PayStakes": wallet_pb2.PayStakesRequest(request_id="salon.1:pay:1", round=round_, payouts=[first]),
        "SettleRound": wallet_pb2.SettleRoundRequest(request_id="salon.1:settle", round=round_, payouts=payouts),
        "VoidRound": wallet_pb2.VoidRoundRequest(
            request_id="salon.2:void", round=types_pb2.RoundRef(round_id="salon.2", table=table), reason="test"
        ),
        "BuyIn": wallet_pb2.BuyInRequest(
            request_id="cards:more",
            table=cards,
            account_id=cards_seat.account_id,
            session_id=cards_seat.session_id,
            amount_cents=100,
        ),
        "TransferHand": wallet_pb2.TransferHandRequest(
            request_id="cards.1:hand",
            round=types_pb2.RoundRef(round_id="cards.1", table=cards),
            seats=[hand],
            commission_cents=10,
        ),
        "ListTableCaves": wallet_pb2.ListTableCavesRequest(table_id=CARDS),
        "CashOut": wallet_pb2.CashOutRequest(
            request_id="cards:out", table=cards, account_id=cards_seat.account_id, session_id=cards_seat.session_id
        ),
        "PayIn": tournament_pb2.PayInRequest(
            request_id="sunday:entry",
            tournament=tournament,
            account_id=seat.account_id,
            kind=tournament_pb2.PAY_IN_KIND_ENTRY,
            prize_cents=100,
            fee_cents=10,
        ),
        "GetTournamentMoney": tournament_pb2.GetTournamentMoneyRequest(
            tournament_id=TOURNAMENT, account_id=seat.account_id
        ),
        "ListTournamentPayIns": tournament_pb2.ListTournamentPayInsRequest(tournament_id=TOURNAMENT),
        "PayOut": tournament_pb2.PayOutRequest(
            request_id="sunday:prize",
            tournament=tournament,
            awards=[
                tournament_pb2.Award(
                    account_id=seat.account_id, reason=tournament_pb2.AWARD_REASON_PRIZE, amount_cents=100
                )
            ],
        ),
        "ListTournamentAwards": tournament_pb2.ListTournamentAwardsRequest(tournament_id=TOURNAMENT),
        "ListTickets": ticket_pb2.ListTicketsRequest(tournament_id=TOURNAMENT),
        "ListTicketChanges": ticket_pb2.ListTicketChangesRequest(ticket_id=world.ticket_id),
        "SettleTickets": tournament_pb2.SettleTicketsRequest(
            request_id="sunday:tickets:0",
            tournament=tournament,
            settlement=tournament_pb2.TICKET_SETTLEMENT_EXPIRE,
            freeroll_settlement=tournament_pb2.TICKET_SETTLEMENT_EXPIRE,
        ),
        "CloseTournament": tournament_pb2.CloseTournamentRequest(request_id="sunday:close", tournament=tournament),
        "StartSession": session_pb2.StartSessionRequest(
            request_id="cards:enter", account_id=seat.account_id, table_id=CARDS, device=session_pb2.Device(kind="test")
        ),
        "GetSession": session_pb2.GetSessionRequest(session_id=seat.session_id),
        "RecordActivity": session_pb2.RecordActivityRequest(session_id=seat.session_id),
        "ListTableSessions": session_pb2.ListTableSessionsRequest(table_id=ROULETTE),
        "ApplySpecificRules": session_pb2.ApplySpecificRulesRequest(
            table=table, version=1, policy=session_pb2.InactivityPolicy(invite=True, idle_seconds=600)
        ),
        "EndSession": session_pb2.EndSessionRequest(session_id=seat.session_id, cause=session_pb2.END_CAUSE_OPERATOR),
        "RefillDemoAccount": wallet_pb2.RefillDemoAccountRequest(
            request_id="salon.1:refill", player_id="eva", amount_cents=100
        ),
    }


async def rows_of(url: str) -> dict[str, list[str]]:
    """Every row of the wallet's database, as text."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        names = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {
            name: sorted(row for (row,) in await connection.fetch(f"SELECT t::text FROM {name} AS t"))  # noqa: S608
            for (name,) in names
            if name not in _VOLATILE
        }
    finally:
        await connection.close()


async def test_every_method_refuses_another_games_token_and_changes_nothing(
    world: World, wallet_database: WalletDatabase
) -> None:
    requests = requests_of(world)
    allowed = {method.name: method for method in methods(of_games=True)}
    assert requests.keys() == allowed.keys() - ABOUT_NO_TABLE, "a method of games is tried by no request here"
    before = await rows_of(wallet_database.url)
    for name, request in requests.items():
        refused = await world.refusal(allowed[name], request, world.stranger)
        reason, facts = refusal_facts(refused)
        assert (refused.code(), reason) == (grpc.StatusCode.PERMISSION_DENIED, "WRONG_GAME"), name
        assert facts["game"] == "poker", name
        assert await rows_of(wallet_database.url) == before, name
    # The same requests are good: the table's own game is answered.
    for name, request in requests.items():
        await world.call(allowed[name], request, world.client.game)
    # And what has been answered is not told to another game, which knows the request.
    for name, request in requests.items():
        refused = await world.refusal(allowed[name], request, world.stranger)
        assert refusal_reason(refused) == "WRONG_GAME", name


async def test_every_other_method_is_closed_to_games(world: World) -> None:
    for method in methods(of_games=False):
        request = message_factory.GetMessageClass(method.input_type)()
        rule = method.GetOptions().Extensions[access_pb2.access]
        for token in (world.client.game, world.stranger):
            if not rule.public:
                assert refusal_reason(await world.refusal(method, request, token)) == "SCOPE_MISSING", method.name


async def test_a_game_is_told_of_a_player_what_belongs_to_its_tables(world: World) -> None:
    await world.client.wallet.OpenTable(opening("holdem", "poker"), metadata=world.stranger)
    rounds = wallet_pb2.ListOpenRoundsRequest(account_id=world.seat.account_id)
    own = await world.client.wallet.ListOpenRounds(rounds, metadata=world.client.game)
    other = await world.client.wallet.ListOpenRounds(rounds, metadata=world.stranger)
    assert ([each.round_id for each in own.rounds], list(other.rounds)) == (["salon.1"], [])
    for token in (world.client.game, world.stranger):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await world.client.wallet.ListTransactions(
                wallet_pb2.ListTransactionsRequest(account_id=world.seat.account_id), metadata=token
            )
        assert refusal_reason(refused.value) == "WRONG_GAME"


async def test_two_games_with_one_table_id_are_refused_aloud(world: World) -> None:
    """The first caller has the id, whether the table was opened or only registered."""
    client = world.client
    for _ in range(2):
        await client.wallet.RegisterTable(registration("terrace", "poker"), metadata=world.stranger)

    async def refusals(table_id: str, game: str, token: Metadata) -> list[tuple[str, dict[str, str]]]:
        with pytest.raises(grpc.aio.AioRpcError) as opened:
            await client.wallet.OpenTable(opening(table_id, game, epoch=7), metadata=token)
        with pytest.raises(grpc.aio.AioRpcError) as registered:
            await client.wallet.RegisterTable(registration(table_id, game), metadata=token)
        return [refusal_facts(opened.value), refusal_facts(registered.value)]

    taken = ("WRONG_GAME", {"game": "roulette", "table_id": "terrace", "table_game": "poker"})
    assert await refusals("terrace", "roulette", client.game) == [taken, taken]
    taken = ("WRONG_GAME", {"game": "poker", "table_id": ROULETTE, "table_game": "roulette"})
    assert await refusals(ROULETTE, "poker", world.stranger) == [taken, taken]
    # The token decides, not what the request says.
    assert {reason for reason, _ in await refusals("new", "roulette", world.stranger)} == {"WRONG_GAME"}


@pytest.mark.guarantee("G4")
async def test_g4_no_game_uses_up_the_ids_of_anothers_rounds_and_requests(world: World) -> None:
    """`salon.2` is the id of roulette's next round, and `salon.1:settle` the request that will pay this one."""
    client = world.client
    own = types_pb2.TableRef(table_id="holdem", epoch=1)
    await client.wallet.OpenTable(opening("holdem", "poker"), metadata=world.stranger)
    for round_id, request_id in (("salon.2", "holdem.1:void"), ("holdem.1", "salon.1:settle"), ("h", "salon.1:void")):
        request = wallet_pb2.VoidRoundRequest(
            request_id=request_id, round=types_pb2.RoundRef(round_id=round_id, table=own), reason="to be in the way"
        )
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.wallet.VoidRound(request, metadata=world.stranger)
        assert refusal_reason(refused.value) == "INVALID"
    # Nor is anything left behind by a table that nobody has opened.
    unknown = types_pb2.TableRef(table_id="salon2", epoch=1)
    request = wallet_pb2.VoidRoundRequest(
        request_id="salon2.1:void", round=types_pb2.RoundRef(round_id="salon2.1", table=unknown), reason="early"
    )
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.wallet.VoidRound(request, metadata=world.stranger)
    assert refusal_reason(refused.value) == "TABLE_UNKNOWN"
    await client.open_table("salon2")
    request.reason = "the wheel broke down"
    await client.wallet.VoidRound(request, metadata=client.game)
    settle = wallet_pb2.SettleRoundRequest(
        request_id="salon.1:settle",
        round=world.round_,
        payouts=[wallet_pb2.StakePayout(stake_id=world.stake_id, payout_cents=200)],
    )
    await client.wallet.SettleRound(settle, metadata=client.game)
    assert (await client.balance(world.seat.account_id)).free_cents == 10_100


@pytest.mark.parametrize(
    "wallet_settings", [{"environment": "production", "session_clock": "real", "grpc_tls": "off", "nats_tls": "off"}]
)
async def test_production_refuses_a_games_token_that_lives_too_long(wallet_client: WalletClient) -> None:
    table = opening("t", "roulette")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.wallet.OpenTable(table, metadata=wallet_client.bearer("game", "roulette", 61))
    assert refusal_reason(refused.value) == "TOKEN_INVALID"
    assert "3600 s" in str(refused.value.details())
    await wallet_client.wallet.OpenTable(table, metadata=wallet_client.bearer("game", "roulette", 60))
