"""What players can know: rules before, during and after a session, the last round, complaints, and void rounds."""

from __future__ import annotations

import grpc
import pytest

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import complaint_pb2
from tests.service.every_game.platform import CENTS, INDIVIDUAL, PlayedGame, balance, leave, rounds, watch
from tests.service.refusals import refusal


@pytest.mark.rule("805/2015:P.2", "805/2015:P.3", "806/2015:R3", "812/2015:P.2", "812/2015:P.3")
@pytest.mark.parametrize("reference", ["", "  "])
async def test_without_the_regulators_approval_no_rules_take_effect(game: PlayedGame, reference: str) -> None:
    request = table_pb2.ConfigureTableRequest(
        request_id="unapproved", table_id="unapproved", configuration=game.rules(), approval_reference=reference
    )

    refused = await refusal(game.client.tables.ConfigureTable(request, metadata=game.client.operator))

    assert (refused.reason, refused.facts["rule"]) == ("RULE_VIOLATED", game.articles.approval)
    with pytest.raises(grpc.aio.AioRpcError):
        await game.client.tables.GetRules(table_pb2.GetRulesRequest(table_id="unapproved"))


@pytest.mark.rule(
    "805/2015:P.4", "805/2015:32", "806/2015:R4", "806/2015:66", "812/2015:P.4", "812/2015:32", "903-B/2015:6.1.6"
)
async def test_rules_results_and_complaints_are_there_before_during_and_after_a_session(game: PlayedGame) -> None:
    table_id = await game.new_table(play=INDIVIDUAL)
    published = {}
    for language in ("pt", "en"):
        # Without a token, and before anybody plays.
        published[language] = await game.client.tables.GetRules(
            table_pb2.GetRulesRequest(table_id=table_id, language=language)
        )
        assert game.articles.approval.partition(":")[0] in published[language].text
    ana = await game.sit_down(table_id)
    round_id = await game.open_round(ana)
    await game.bet(ana, round_id)
    played = await game.draw(ana, round_id)

    async def rules_and_last_round() -> tuple[str, table_pb2.PlayerRound]:
        request = table_pb2.GetRulesRequest(table_id=ana.table_id, language="pt")
        return (await game.client.tables.GetRules(request)).text, (await rounds(game, ana))[0]

    during = await rules_and_last_round()
    await leave(game, ana)
    after = await rules_and_last_round()

    assert during == after == (published["pt"].text, played)
    assert "Reclamações" in published["pt"].text
    metadata = game.wallet.bearer("player", ana.player_id)
    about: list[dict[str, str]] = [{"round_id": round_id}, {"session_id": ana.session_id}]
    for subject in about:
        request = complaint_pb2.FileComplaintRequest(
            request_id="about-" + "-".join(subject), account_id=ana.account_id, text="I had 21.", **subject
        )
        filed = (await game.wallet.complaints.FileComplaint(request, metadata=metadata)).complaint
        assert filed.reference
        assert all(getattr(filed, field) == value for field, value in subject.items())


@pytest.mark.rule("805/2015:31", "806/2015:65", "812/2015:31")
async def test_the_last_round_is_shown_with_its_cards_and_its_bets(game: PlayedGame) -> None:
    table_id = await game.new_table()
    players = [await game.sit_down(table_id) for _ in range(2)]
    watcher = await watch(game, table_id)
    round_id = await game.open_round(players[0])
    for player in players:
        await game.bet(player, round_id)

    await game.end_betting(players, round_id)

    told = (await watcher.wait_for("outcome_drawn", round_id)).outcome_drawn.outcome
    for player in players:
        (last,) = await rounds(game, player)
        # One result for everybody, with the player's own bets and what they paid.
        assert last.round.outcome == told
        assert [stake.amount_cents for stake in last.stakes][:1] == [game.stake_cents]
        assert await balance(game, player) == (CENTS - last.staked_cents + last.payout_cents, 0)


@pytest.mark.rule("805/2015:27", "805/2015:28", "806/2015:72", "812/2015:29")
@pytest.mark.guarantee("G4")
async def test_g4_in_a_void_round_everybody_gets_every_bet_back_and_is_told(game: PlayedGame) -> None:
    table_id = await game.new_table()
    players = [await game.sit_down(table_id) for _ in range(2)]
    watcher = await watch(game, table_id)
    round_id = await game.open_round(players[0])
    for player in players:
        await game.bet(player, round_id)
        assert await balance(game, player) == (CENTS - game.locked_cents, game.locked_cents)
    request = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason="the cards are lost")

    await game.client.tables.VoidOpenRound(request, metadata=game.client.operator)

    voided = (await watcher.wait_for("round_voided", round_id)).round_voided
    assert voided.phrase.pt.startswith("Ocorreu um erro; a jogada é nula")
    for player in players:
        assert await balance(game, player) == (CENTS, 0)
        (shown,) = await rounds(game, player)
        assert (shown.round.void_reason, shown.round.HasField("outcome")) == ("the cards are lost", False)


@pytest.mark.rule("805/2015:12", "812/2015:27")
async def test_the_end_of_the_betting_time_is_said_in_the_words_of_the_regulation(banked_game: PlayedGame) -> None:
    # Poker has no betting time: each player in turn has their own.
    game = banked_game
    table_id = await game.new_table()
    player = await game.sit_down(table_id)
    watcher = await watch(game, table_id)
    round_id = await game.open_round(player)
    await game.bet(player, round_id)

    await game.end_betting([player], round_id)

    opened = (await watcher.wait_for("round_opened", round_id)).round_opened
    closed = (await watcher.wait_for("betting_closed", round_id)).betting_closed
    assert opened.phrase.pt == "Façam as vossas apostas."
    assert closed.phrase.pt == "Jogo feito, nada mais, cartas em distribuição."
    assert closed.phrase.en == "No more bets; cards are being dealt."
