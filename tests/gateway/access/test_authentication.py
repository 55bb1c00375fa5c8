"""Authentication: which tokens are accepted, what the gateway's own methods allow, and when connections end."""

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
from services.kit.bus.streams import REVOCATIONS_KEPT_S
from services.kit.refusal import Refused
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until

CONTRACTS = Contracts()


@dataclass
class GatewayAccess:
    """The access control of one gateway on a real bus, with a wallet that answers or does not."""

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
        """Does what each call does: identifies, verifies, and records activity."""
        principal = await self.authenticator.identify(token)
        await self.authenticator.verify(principal)
        self.authenticator.record_activity(principal)
        return principal

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
async def access(tmp_path: Path, nats_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GatewayAccess]:
    # The bus answers, however long a busy machine takes.
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    issuer, clock = DevelopmentIssuer(tmp_path), FakeClock(time.time())
    issuer.prepare()
    sources = [TrustedIssuer(str(issuer.jwks)), TrustedIssuer(str(issuer.demo_keys.jwks), demo_only=True)]
    async with bus_client(nats_url) as bus:
        revocations, activity = Revocations(bus, clock), Activity(bus, clock)
        async with running_tasks(revocations.run(), activity.run()):
            await wait_until(lambda: revocations._last_current_at is not None)
            authenticator = Authenticator(TokenVerifier(sources, AUDIENCE, clock), revocations, activity)
            upstream = Upstream()
            directory = Directory(bus, {})
            access = GatewayAccess(issuer, authenticator, revocations, Dispatcher(directory, upstream), clock)
            demo = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE, clock)
            access.dispatcher.register_local(
                local_methods(
                    GatewayService(
                        directory,
                        demo,
                        RateLimiter(Limits(demo_visits=Limit("visits to try", 0.001, 2))),
                        revocations,
                        access.end_sessions,
                    ),
                    authenticator,
                )
            )
            yield access
            await upstream.close()


async def refusal(call: object) -> Refused:
    with pytest.raises(Refused) as refused:
        await call  # type: ignore[misc]
    return refused.value


async def test_a_valid_token_identifies_its_caller(access: GatewayAccess) -> None:
    token = access.issuer.token(["player"], "ana")
    assert not access.authenticator.was_verified(token)
    player = await access.admit(token)
    assert access.authenticator.was_verified(token)
    operator = await access.admit(access.issuer.token(["operator"], "back-office"))
    assert (player.player_id, operator.player_id) == ("ana", None)
    assert await access.admit("") is ANONYMOUS
    refused = await refusal(access.admit("forged"))
    assert (refused.reason, refused.domain) == ("TOKEN_INVALID", "gateway.feltro")


async def test_a_token_expires_after_it_was_accepted(access: GatewayAccess) -> None:
    token = access.issuer.token(["player"], "ana", minutes=10)
    assert access.authenticator.is_unexpired(await access.admit(token))
    access.clock.seconds += 11 * 60
    principal = await access.admit(token)
    assert not access.authenticator.is_unexpired(principal)
    assert access.authenticator.expires_in(principal) < 0


@pytest.mark.guarantee("G12")
async def test_g12_a_token_older_than_revocations_are_kept_is_refused(access: GatewayAccess) -> None:
    token = access.issuer.token(["operator"], "back-office", minutes=60 * 24 * 365)
    access.clock.seconds += REVOCATIONS_KEPT_S + 1
    assert (await refusal(access.admit(token))).reason == "TOKEN_EXPIRED"


@pytest.mark.rule("GLI-19 2.5.4")
async def test_after_thirty_idle_minutes_a_new_login_is_needed(access: GatewayAccess) -> None:
    token = access.issuer.token(["player"], "ana")
    for _ in range(2):
        access.clock.seconds += IDLE_LIMIT_S - 1
        await access.admit(token)
    # To identify a caller is no activity of theirs.
    access.clock.seconds += IDLE_LIMIT_S - 1
    await access.authenticator.identify(token)
    access.clock.seconds += 2
    assert (await refusal(access.admit(token))).reason == "LOGIN_NEEDED"
    assert (await refusal(access.admit(token))).reason == "LOGIN_NEEDED"


async def test_a_logout_ends_the_token_and_the_players_sessions(access: GatewayAccess) -> None:
    token, other = access.issuer.token(["player"], "ana"), access.issuer.token(["player"], "ana")
    answer = await access.logout(token)
    assert [session.session_id for session in answer.sessions] == ["s"]
    assert access.ended_players == ["ana"]
    refused = await refusal(access.admit(token))
    assert (refused.reason, set(refused.facts)) == ("TOKEN_REVOKED", {"revoked_at"})
    assert (await access.admit(other)).player_id == "ana"


async def test_a_logout_counts_although_the_wallet_is_down(access: GatewayAccess) -> None:
    token, access.wallet_answers = access.issuer.token(["player"], "ana"), False
    assert (await access.logout(token)).sessions_left_open
    assert (await refusal(access.admit(token))).reason == "TOKEN_REVOKED"


async def test_an_operator_logs_out_without_sessions(access: GatewayAccess) -> None:
    token = access.issuer.token(["operator"], "back-office")
    await access.logout(token)
    assert not access.ended_players
    assert (await refusal(access.admit(token))).reason == "TOKEN_REVOKED"


async def test_only_operators_revoke_other_subjects(access: GatewayAccess, caplog: pytest.LogCaptureFixture) -> None:
    victim, operator = access.issuer.token(["player"], "zita"), access.issuer.token(["operator"], "back-office")
    for token, reason in (
        (victim, "SCOPE_MISSING"),
        (access.issuer.token(["game"], "roulette"), "TOKEN_INVALID"),
        ("", "TOKEN_INVALID"),
    ):
        refused = await refusal(access.revoke("zita", token))
        assert (refused.reason, refused.domain) == (reason, "gateway.feltro")
    for subject, why in (("", "stolen"), ("zita", ""), ("a" * 200, "stolen"), ("zita", "a" * 1000)):
        assert (await refusal(access.revoke(subject, operator, why))).reason == "INVALID"
    await access.admit(victim)
    # The issuer's clock goes on while the gateway's stands still.
    access.clock.seconds += 600
    await access.revoke("zita", operator)
    assert (await refusal(access.admit(victim))).reason == "TOKEN_REVOKED"
    (logged,) = [record.__dict__ for record in caplog.records if "operator" in record.message]
    assert (logged["actor"], logged["subject"], logged["reason"]) == ("back-office", "zita", "stolen phone")


@pytest.mark.rule("804/2015:30", "807/2015:32")
async def test_a_guest_enters_a_demonstration_and_logs_out(access: GatewayAccess) -> None:
    answer = await access.call("EnterDemo", gateway_pb2.EnterDemoRequest(), "")
    entered = gateway_pb2.EnterDemoResponse.FromString(answer)
    principal = await access.admit(entered.token)
    assert principal.player_id == entered.player_id
    await access.logout(entered.token)
    assert access.ended_players == [entered.player_id]
    assert (await refusal(access.admit(entered.token))).reason == "TOKEN_REVOKED"


@pytest.mark.guarantee("G12")
async def test_g12_a_gateway_that_knows_no_replica_yet_answers_unavailable(access: GatewayAccess) -> None:
    refused = await refusal(access.call("ListGames", gateway_pb2.ListGamesRequest(), ""))
    assert (refused.reason, refused.domain) == ("UNAVAILABLE", "gateway.feltro")


@pytest.mark.guarantee("G11")
async def test_g11_demonstrations_are_limited_per_address(access: GatewayAccess) -> None:
    async def enter(address: str) -> None:
        method = CONTRACTS.by_rpc_name["GatewayService.EnterDemo"]
        context = CallContext(ANONYMOUS, client_address=address)
        await access.dispatcher.dispatch(method, gateway_pb2.EnterDemoRequest(), context)

    async def enter_for_ever() -> None:
        while True:
            await enter("192.0.2.1")

    refused = await refusal(asyncio.wait_for(enter_for_ever(), WITHIN_S))
    assert (refused.reason, refused.domain) == ("RATE_LIMITED", "gateway.feltro")
    await enter("192.0.2.2")


async def test_a_connection_ends_when_its_token_is_revoked(access: GatewayAccess) -> None:
    token = access.issuer.token(["player"], "ana")
    ending = asyncio.create_task(access.authenticator.wait_for_end(await access.admit(token)))
    await asyncio.sleep(0)
    await access.logout(token)
    assert (await asyncio.wait_for(ending, WITHIN_S)).reason == "TOKEN_REVOKED"


@pytest.mark.rule("GLI-19 2.5.4")
async def test_a_connection_ends_when_its_player_is_idle_or_its_token_expires(access: GatewayAccess) -> None:
    short = await access.admit(access.issuer.token(["player"], "ana", minutes=5))
    idle = await access.admit(access.issuer.token(["player"], "ana"))
    busy = await access.admit(access.issuer.token(["player"], "ana"))
    access.clock.seconds += IDLE_LIMIT_S - 120
    access.authenticator.record_activity(busy)
    # The issuer's clock goes on while the gateway's stands still: tokens are younger than they seem.
    access.clock.seconds += 240
    assert (await asyncio.wait_for(access.authenticator.wait_for_end(short), WITHIN_S)).reason == "TOKEN_EXPIRED"
    assert (await asyncio.wait_for(access.authenticator.wait_for_end(idle), WITHIN_S)).reason == "LOGIN_NEEDED"
    for unended in (busy, ANONYMOUS):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(access.authenticator.wait_for_end(unended), 0.2)


async def test_a_connection_is_renewed_only_for_the_same_caller(access: GatewayAccess) -> None:
    principal = await access.admit(access.issuer.token(["player"], "ana", minutes=5))
    access.clock.seconds += 240
    renewed = await access.authenticator.renew(principal, access.issuer.token(["player"], "ana", minutes=10))
    assert access.authenticator.expires_in(renewed) > 300
    for other in (
        access.issuer.token(["player"], "rui"),
        access.issuer.token(["operator"], "ana"),
        "",
    ):
        assert (await refusal(access.authenticator.renew(principal, other))).reason == "NOT_YOURS"
    access.clock.seconds += 3600
    expired = access.issuer.token(["player"], "ana", minutes=10)
    assert (await refusal(access.authenticator.renew(principal, expired))).reason == "TOKEN_EXPIRED"
