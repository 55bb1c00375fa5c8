"""The door: who is let in, with what he may call what the gateway answers itself, and when his connection ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from google.protobuf.message import Message

from feltro.gateway.v1 import gateway_pb2
from feltro.wallet.v1 import session_pb2
from gateway.access import revocations
from gateway.access.activity import IDLE_LIMIT_S, Activity
from gateway.access.authenticator import Authenticator
from gateway.access.demonstration import DemoTokenIssuer
from gateway.access.principals import ANONYMOUS, Principal
from gateway.access.rate_limiter import Limit, Limits, RateLimiter
from gateway.access.revocations import Revocations
from gateway.backends.directory import Directory
from gateway.backends.dispatcher import CallContext, Dispatcher
from gateway.backends.local_service import GatewayService, local_methods
from gateway.backends.upstream import Upstream
from gateway.contracts import refusals
from gateway.contracts.methods import Contracts
from services.kit.access.identity import TokenVerifier, TrustedIssuer
from services.kit.access.signing_key import SigningKey
from services.kit.bus import buckets
from services.kit.refusal import Refused
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until

CONTRACTS = Contracts()


@dataclass
class GatewayAccess:
    """One gateway's, on a real bus, with a wallet that answers or does not."""

    issuer: DevelopmentIssuer
    authenticator: Authenticator
    revocations: Revocations
    dispatcher: Dispatcher
    clock: FakeClock
    wallet_answers: bool = True
    ended_players: list[str] = field(default_factory=list)

    async def call(self, method: str, request: Message, token: str) -> bytes:
        return await self.dispatcher.dispatch(
            CONTRACTS.by_rpc_name[f"GatewayService.{method}"], request, CallContext(Principal(token, None))
        )

    async def admit(self, token: str) -> Principal:
        """Somebody who calls."""
        visitor = await self.authenticator.identify(token)
        await self.authenticator.verify(visitor)
        self.authenticator.record_activity(visitor)
        return visitor

    async def logout(self, token: str) -> gateway_pb2.LogoutResponse:
        return gateway_pb2.LogoutResponse.FromString(await self.call("Logout", gateway_pb2.LogoutRequest(), token))

    async def revoke(self, subject: str, token: str, why: str = "stolen phone") -> None:
        await self.call("RevokeSubject", gateway_pb2.RevokeSubjectRequest(subject=subject, reason=why), token)

    async def end_sessions(
        self, request: session_pb2.EndPlayerSessionsRequest, principal: Principal
    ) -> session_pb2.EndPlayerSessionsResponse:
        assert principal.token
        if not self.wallet_answers:
            raise refusals.unavailable("The wallet does not answer.")
        self.ended_players.append(request.player_id)
        return session_pb2.EndPlayerSessionsResponse(sessions=[session_pb2.Session(session_id="s")])


@pytest.fixture
async def door(tmp_path: Path, nats_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GatewayAccess]:
    # The bus is there, however long it takes to answer.
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    issuer, clock = DevelopmentIssuer(tmp_path), FakeClock(time.time())
    issuer.prepare()
    sources = [TrustedIssuer(str(issuer.jwks)), TrustedIssuer(str(issuer.demo_keys.jwks), demo_only=True)]
    async with bus_client(nats_url) as bus:
        taken_back, used = Revocations(bus, clock), Activity(bus, clock)
        async with running_tasks(taken_back.run(), used.run()):
            await wait_until(lambda: taken_back._last_current_at is not None)
            visitors = Authenticator(TokenVerifier(sources, AUDIENCE, clock), taken_back, used)
            upstream = Upstream()
            directory = Directory(bus, {})
            made = GatewayAccess(issuer, visitors, taken_back, Dispatcher(directory, upstream), clock)
            demo = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE, clock)
            made.dispatcher.register_local(
                local_methods(
                    GatewayService(
                        directory,
                        demo,
                        RateLimiter(Limits(demo_visits=Limit("visits to try", 0.001, 2))),
                        taken_back,
                        made.end_sessions,
                    ),
                    visitors,
                )
            )
            yield made
            await upstream.close()


async def refusal(call: object) -> Refused:
    with pytest.raises(Refused) as refused:
        await call  # type: ignore[misc]
    return refused.value


async def test_who_shows_a_token_is_let_in(door: GatewayAccess) -> None:
    token = door.issuer.token(["player"], "ana")
    assert not door.authenticator.was_verified(token)
    player = await door.admit(token)
    assert door.authenticator.was_verified(token)
    operator = await door.admit(door.issuer.token(["operator"], "back-office"))
    assert (player.player_id, operator.player_id) == ("ana", None)
    assert await door.admit("") is ANONYMOUS
    refused = await refusal(door.admit("forged"))
    assert (refused.reason, refused.domain) == ("TOKEN_INVALID", "gateway.feltro")


async def test_an_expired_token_is_known_to_be_expired(door: GatewayAccess) -> None:
    token = door.issuer.token(["player"], "ana", minutes=10)
    assert door.authenticator.is_unexpired(await door.admit(token))
    door.clock.seconds += 11 * 60
    visitor = await door.admit(token)
    assert not door.authenticator.is_unexpired(visitor)
    assert door.authenticator.expires_in(visitor) < 0


@pytest.mark.guarantee("G12")
async def test_g12_a_token_older_than_any_revocation_is_kept_opens_nothing(door: GatewayAccess) -> None:
    token = door.issuer.token(["operator"], "back-office", minutes=60 * 24 * 365)
    door.clock.seconds += revocations.NOTES_KEPT_S + 1
    assert (await refusal(door.admit(token))).reason == "TOKEN_EXPIRED"


@pytest.mark.rule("GLI-19 2.5.4")
async def test_after_thirty_idle_minutes_a_new_login_is_asked_for(door: GatewayAccess) -> None:
    token = door.issuer.token(["player"], "ana")
    for _ in range(2):
        door.clock.seconds += IDLE_LIMIT_S - 1
        await door.admit(token)
    # What only looks at him is nothing that he does.
    door.clock.seconds += IDLE_LIMIT_S - 1
    await door.authenticator.identify(token)
    door.clock.seconds += 2
    assert (await refusal(door.admit(token))).reason == "LOGIN_NEEDED"
    assert (await refusal(door.admit(token))).reason == "LOGIN_NEEDED"


async def test_a_logout_ends_the_token_and_the_players_sessions(door: GatewayAccess) -> None:
    token, other = door.issuer.token(["player"], "ana"), door.issuer.token(["player"], "ana")
    answer = await door.logout(token)
    assert [session.session_id for session in answer.sessions] == ["s"]
    assert door.ended_players == ["ana"]
    refused = await refusal(door.admit(token))
    assert (refused.reason, set(refused.facts)) == ("TOKEN_REVOKED", {"revoked_at"})
    assert (await door.admit(other)).player_id == "ana"


async def test_a_logout_holds_though_the_wallet_is_away(door: GatewayAccess) -> None:
    token, door.wallet_answers = door.issuer.token(["player"], "ana"), False
    assert (await door.logout(token)).sessions_left_open
    assert (await refusal(door.admit(token))).reason == "TOKEN_REVOKED"


async def test_an_operator_logs_out_without_sessions(door: GatewayAccess) -> None:
    token = door.issuer.token(["operator"], "back-office")
    await door.logout(token)
    assert not door.ended_players
    assert (await refusal(door.admit(token))).reason == "TOKEN_REVOKED"


async def test_only_operators_take_others_tokens_back(door: GatewayAccess, caplog: pytest.LogCaptureFixture) -> None:
    victim, operator = door.issuer.token(["player"], "zita"), door.issuer.token(["operator"], "back-office")
    for token, reason in (
        (victim, "SCOPE_MISSING"),
        (door.issuer.token(["game"], "roulette"), "TOKEN_INVALID"),
        ("", "TOKEN_INVALID"),
    ):
        refused = await refusal(door.revoke("zita", token))
        assert (refused.reason, refused.domain) == (reason, "gateway.feltro")
    for subject, why in (("", "stolen"), ("zita", ""), ("a" * 200, "stolen"), ("zita", "a" * 1000)):
        assert (await refusal(door.revoke(subject, operator, why))).reason == "INVALID"
    await door.admit(victim)
    # The issuer's clock has gone on since the door's stood still.
    door.clock.seconds += 600
    await door.revoke("zita", operator)
    assert (await refusal(door.admit(victim))).reason == "TOKEN_REVOKED"
    (said,) = [record.__dict__ for record in caplog.records if "operator" in record.message]
    assert (said["actor"], said["subject"], said["reason"]) == ("back-office", "zita", "stolen phone")


@pytest.mark.rule("804/2015:30", "807/2015:32")
async def test_anybody_comes_in_to_try_and_leaves(door: GatewayAccess) -> None:
    answer = await door.call("EnterDemo", gateway_pb2.EnterDemoRequest(), "")
    entered = gateway_pb2.EnterDemoResponse.FromString(answer)
    visitor = await door.admit(entered.token)
    assert visitor.player_id == entered.player_id
    await door.logout(entered.token)
    assert door.ended_players == [entered.player_id]
    assert (await refusal(door.admit(entered.token))).reason == "TOKEN_REVOKED"


@pytest.mark.guarantee("G12")
async def test_g12_a_gateway_that_has_seen_nobody_yet_does_not_say_that_there_is_no_game(door: GatewayAccess) -> None:
    refused = await refusal(door.call("ListGames", gateway_pb2.ListGamesRequest(), ""))
    assert (refused.reason, refused.domain) == ("UNAVAILABLE", "gateway.feltro")


@pytest.mark.guarantee("G11")
async def test_g11_one_address_is_not_let_in_to_try_without_end(door: GatewayAccess) -> None:
    async def enter(address: str) -> None:
        method = CONTRACTS.by_rpc_name["GatewayService.EnterDemo"]
        context = CallContext(ANONYMOUS, client_address=address)
        await door.dispatcher.dispatch(method, gateway_pb2.EnterDemoRequest(), context)

    async def enter_for_ever() -> None:
        while True:
            await enter("192.0.2.1")

    refused = await refusal(asyncio.wait_for(enter_for_ever(), WITHIN_S))
    assert (refused.reason, refused.domain) == ("RATE_LIMITED", "gateway.feltro")
    await enter("192.0.2.2")


async def test_a_connection_ends_when_its_token_is_taken_back(door: GatewayAccess) -> None:
    token = door.issuer.token(["player"], "ana")
    ending = asyncio.create_task(door.authenticator.wait_for_end(await door.admit(token)))
    await asyncio.sleep(0)
    await door.logout(token)
    assert (await asyncio.wait_for(ending, WITHIN_S)).reason == "TOKEN_REVOKED"


@pytest.mark.rule("GLI-19 2.5.4")
async def test_a_connection_ends_when_nothing_is_done_or_its_token_expires(door: GatewayAccess) -> None:
    short = await door.admit(door.issuer.token(["player"], "ana", minutes=5))
    idle = await door.admit(door.issuer.token(["player"], "ana"))
    busy = await door.admit(door.issuer.token(["player"], "ana"))
    door.clock.seconds += IDLE_LIMIT_S - 120
    door.authenticator.record_activity(busy)
    # The issuer's clock has gone on since the door's stood still: tokens are younger than they seem.
    door.clock.seconds += 240
    assert (await asyncio.wait_for(door.authenticator.wait_for_end(short), WITHIN_S)).reason == "TOKEN_EXPIRED"
    assert (await asyncio.wait_for(door.authenticator.wait_for_end(idle), WITHIN_S)).reason == "LOGIN_NEEDED"
    for staying in (busy, ANONYMOUS):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(door.authenticator.wait_for_end(staying), 0.2)


async def test_a_connection_is_renewed_by_the_same_person_only(door: GatewayAccess) -> None:
    visitor = await door.admit(door.issuer.token(["player"], "ana", minutes=5))
    door.clock.seconds += 240
    renewed = await door.authenticator.renew(visitor, door.issuer.token(["player"], "ana", minutes=10))
    assert door.authenticator.expires_in(renewed) > 300
    for other in (
        door.issuer.token(["player"], "rui"),
        door.issuer.token(["operator"], "ana"),
        "",
    ):
        assert (await refusal(door.authenticator.renew(visitor, other))).reason == "NOT_YOURS"
    door.clock.seconds += 3600
    expired = door.issuer.token(["player"], "ana", minutes=10)
    assert (await refusal(door.authenticator.renew(visitor, expired))).reason == "TOKEN_EXPIRED"
