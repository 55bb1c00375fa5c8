"""Personal cards: each player sees their own, and nobody sees any other that was not turned up."""

from __future__ import annotations

import tomllib

import grpc
import pytest
from google.protobuf.message import Message
from pokerkit import HandHistory

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from tests.named_cards import named_cards
from tests.service.game_driver import SeatedPlayer
from tests.service.poker.platform import PokerDriver, outcome_of
from tests.service.refusals import refusal_of

RULES = [
    f"{regulation}:{paragraph}" for regulation in ("806/2015", "811/2015") for paragraph in ("11.d", "34.a", "59", "65")
]


async def all_answers(driver: PokerDriver, players: list[SeatedPlayer], hidden: SeatedPlayer) -> list[Message]:
    """All that others than one player may ask for about their table."""
    table_id = hidden.table_id
    found: list[Message] = [await driver.table(table_id)]
    for other in players:
        if other != hidden:
            found.append(await driver.poker.table(other.player_id, table_id))
            found.append(await driver.poker.rounds(other.player_id))
            request = table_pb2.ListTableRoundsRequest(table_id=table_id)
            metadata = driver.poker.player(other.player_id)
            found.append(await driver.poker.tables.ListTableRounds(request, metadata=metadata))
    return found


@pytest.mark.rule(*RULES)
@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_g7_folded_cards_are_seen_by_nobody_but_their_player_and_the_operator(
    driver: PokerDriver, regulation: str
) -> None:
    players = list(await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=poker_pb2.LIMIT_POT))
    table_id = players[0].table_id
    watcher = await driver.watch(table_id)
    playing = await driver.playing(table_id)
    cards = {player.seat: list((await driver.own_view(player)).cards) for player in players}
    assert len({card for hole in cards.values() for card in hole}) == 3 * len(cards[1])
    folding = next(player for player in players if player.seat == playing.seat)
    assert {*cards[folding.seat]} <= {*named_cards(await driver.own_view(folding))}
    for answer in await all_answers(driver, players, folding):
        assert not {*cards[folding.seat]} & {*named_cards(answer)}

    round_id = await driver.play(players, "f f")

    winner_seat = next(seat for seat in (1, 2, 3) if seat == playing.view.big_blind)
    played = {player.seat: await driver.ended(player, round_id) for player in players}
    assert not any(seat.cards for seat in outcome_of(played[winner_seat]).view.seats)
    for hidden in players:
        for told in [*await all_answers(driver, players, hidden), *watcher.events]:
            assert not {*cards[hidden.seat]} & {*named_cards(told)}
        for other in players:
            phh = await driver.poker.export(other.player_id, table_id, round_id)
            visible = "".join(tomllib.loads(phh)["actions"])
            assert (other == hidden) == any(card in visible for card in cards[hidden.seat])
            assert (other == hidden) == (hidden.player_id in phh)
        phh = await driver.poker.export(hidden.player_id, table_id, round_id)
        assert f"d dh p{1 + _position(phh, hidden.seat)} {''.join(cards[hidden.seat])}" in tomllib.loads(phh)["actions"]
    request = poker_pb2.ExportHandRequest(table_id=table_id, round_id=round_id)
    whole = (await driver.poker.poker.ExportHand(request, metadata=driver.poker.operator)).phh
    assert all("".join(hole) in whole for hole in cards.values())
    assert all(player.player_id in whole for player in players)


def _position(phh: str, seat: int) -> int:
    seats: list[int] = tomllib.loads(phh)["seats"]
    return seats.index(seat)


@pytest.mark.rule(
    *(f"{regulation}:{paragraph}" for regulation in ("806/2015", "811/2015") for paragraph in ("65", "66"))
)
@pytest.mark.parametrize(("regulation", "limit"), [("806/2015", "NO_LIMIT"), ("811/2015", "POT")])
async def test_a_hand_is_exported_as_a_history_that_another_engine_plays_again(
    driver: PokerDriver, regulation: str, limit: str
) -> None:
    named = poker_pb2.Limit.Value(f"LIMIT_{limit}")
    players = await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=named)
    played = await driver.play_to_showdown(players)
    round_id, table_id = played.round.round_id, players[0].table_id

    for text in (
        await driver.poker.export(players[0].player_id, table_id, round_id),
        (
            await driver.poker.poker.ExportHand(
                poker_pb2.ExportHandRequest(table_id=table_id, round_id=round_id), metadata=driver.poker.operator
            )
        ).phh,
    ):
        history = HandHistory.loads(text, automations=HandHistory.automations)
        *_, last = history
        fields = tomllib.loads(text)
        # pokerkit knows no commission.
        assert last.stacks == [
            after + commission
            for after, commission in zip(fields["finishing_stacks"], fields["_commission"], strict=True)
        ] or sum(last.stacks) == sum(fields["starting_stacks"])
        assert fields["finishing_stacks"] == [
            brought - result.staked_cents + result.won_cents
            for brought, seat in zip(fields["starting_stacks"], fields["seats"], strict=True)
            for result in outcome_of(played).results
            if result.seat == seat
        ]


async def test_a_hand_is_exported_to_its_players_and_the_operator_when_it_is_over(
    driver: PokerDriver,
) -> None:
    players = await driver.begin(5_000, 5_000)
    table_id = players[0].table_id
    open_round = (await driver.playing(table_id)).round_id
    stranger = await driver.new_player()

    async def reason(player_id: str, round_id: str) -> str:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await driver.poker.export(player_id, table_id, round_id)
        return refusal_of(refused.value).reason

    assert await reason(players[0].player_id, open_round) == "ROUND_UNKNOWN"
    round_id = await driver.play(players, "f")
    await driver.ended(players[0], round_id)
    assert await reason(stranger, round_id) == "ROUND_UNKNOWN"
    assert await reason(players[0].player_id, f"{table_id}.99") == "ROUND_UNKNOWN"
    assert await driver.poker.export(players[0].player_id, table_id, round_id)
