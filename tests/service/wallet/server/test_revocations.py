"""Revocations in the wallet's database: who may revoke what, and that none is lost or missed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import grpc
import pytest

from feltro.wallet.v1 import revocation_pb2, revocation_pb2_grpc
from services.kit.access.identity import CLOCK_SKEW_S, Caller
from services.kit.access.revocation_keys import REVOCATIONS_KEPT_S, subject_key, token_key
from services.kit.refusal import Refused
from services.wallet.revocations import rows, sweep
from services.wallet.revocations.sweep import RevocationSweep
from services.wallet.server import revocation_service
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import WalletClient, refusal_reason
from tests.service.wallet.in_process_wallet import OPERATOR, T0, InProcessWallet
from tests.service.wallet.kills import kill_at_step

pytestmark = pytest.mark.guarantee("G12")

STEPS_LIMIT = 30


def bearer(subject: str, token_id: str, scope: str = "player", lifetime_s: float = 3600) -> Caller:
    at = T0.timestamp()
    return Caller(subject, frozenset({scope}), at + lifetime_s, at - 60, token_id)


async def log_out(wallet: InProcessWallet, caller: Caller) -> revocation_pb2.Revocation:
    request = revocation_pb2.RevokeTokenRequest(reason="logout")
    return (await wallet.revocation_service.revoke_token(request, caller)).revocation


async def revoke_subject(wallet: InProcessWallet, subject: str) -> revocation_pb2.Revocation:
    request = revocation_pb2.RevokeTokensOfRequest(subject=subject, reason="stolen phone")
    return (await wallet.revocation_service.revoke_tokens_of(request, OPERATOR)).revocation


async def listed(wallet: InProcessWallet, after_no: int = 0, size: int = 0) -> list[revocation_pb2.Revocation]:
    request = revocation_pb2.ListRevocationsRequest(after_no=after_no, page_size=size)
    answer = await wallet.revocation_service.list_revocations(request, Caller("", frozenset(), 0.0))
    return list(answer.revocations)


async def test_a_token_is_revoked_once_and_a_subject_each_time(wallet: InProcessWallet) -> None:
    ana = bearer("ana", "one")
    first = await log_out(wallet, ana)
    assert await log_out(wallet, ana) == first
    assert first.key == token_key(ana)
    assert first.expires_at.ToSeconds() == int(ana.expires_at + CLOCK_SKEW_S)
    earlier = await revoke_subject(wallet, "ana")
    wallet.clock.advance(1.5)
    later = await revoke_subject(wallet, "ana")
    assert (earlier.key, later.key) == (subject_key("ana"),) * 2
    assert later.revoked_at.ToMilliseconds() - earlier.revoked_at.ToMilliseconds() == 1500
    assert later.expires_at.ToSeconds() == later.revoked_at.ToSeconds() + REVOCATIONS_KEPT_S
    assert await listed(wallet) == [first, earlier, later]
    assert await listed(wallet, after_no=first.revocation_no, size=1) == [earlier]
    # Longer than a token may be old.
    endless = await log_out(wallet, bearer("rui", "two", lifetime_s=1e9))
    assert endless.expires_at.ToSeconds() - endless.revoked_at.ToSeconds() == REVOCATIONS_KEPT_S


async def test_the_bearer_revokes_and_nobody_else(wallet_client: WalletClient) -> None:
    revocations: revocation_pb2_grpc.RevocationServiceAsyncStub = revocation_pb2_grpc.RevocationServiceStub(
        wallet_client.channel
    )
    of_subject = revocation_pb2.RevokeTokensOfRequest(subject="rui", reason="noise")
    for metadata in (wallet_client.bearer("player", "ana"), wallet_client.game):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await revocations.RevokeTokensOf(of_subject, metadata=metadata)
        assert refusal_reason(refused.value) == "SCOPE_MISSING"
    for forged in ((), wallet_client.bearer("player", "ana", -5), (("authorization", "Bearer forged"),)):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await revocations.RevokeToken(revocation_pb2.RevokeTokenRequest(), metadata=forged)
        assert refusal_reason(refused.value) in {"TOKEN_INVALID", "TOKEN_EXPIRED"}
    # A gateway, which has no token, reads them.
    assert not (await revocations.ListRevocations(revocation_pb2.ListRevocationsRequest())).revocations
    await revocations.RevokeToken(revocation_pb2.RevokeTokenRequest(), metadata=wallet_client.bearer("player", "ana"))
    await revocations.RevokeTokensOf(of_subject, metadata=wallet_client.operator)
    answer = await revocations.ListRevocations(revocation_pb2.ListRevocationsRequest())
    assert [each.key.partition(".")[0] for each in answer.revocations] == ["token", "subject"]
    assert answer.last_no == answer.revocations[-1].revocation_no


@pytest.mark.guarantee("G5")
async def test_g5_a_wallet_killed_at_any_step_has_recorded_or_has_not(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    """What is recorded is read by every gateway, whether the one that asked was told or not."""
    for step in range(1, STEPS_LIMIT):
        subject, before = f"p{step}", len(await listed(wallet))
        request = revocation_pb2.RevokeTokensOfRequest(subject=subject, reason="stolen phone")
        killed = await kill_at_step(wallet, wallet_database.url, step, "revoke_tokens_of", "operator", request)
        recorded = (await listed(wallet))[before:]
        assert [each.key for each in recorded] in ([], [subject_key(subject)])
        if not killed:
            assert recorded
            break
        # The operator sends it again, for nobody has answered.
        await revoke_subject(wallet, subject)
        assert {each.key for each in (await listed(wallet))[before:]} == {subject_key(subject)}
    else:
        raise AssertionError("the steps never ended")
    assert step > 2


async def test_a_reader_misses_no_number_below_the_last_it_has_seen(
    first_replica: InProcessWallet, second_replica: InProcessWallet
) -> None:
    """A number that is drawn first and committed last would be passed over for ever."""
    async with first_replica.engine.begin() as connection:
        await rows.lock(connection)
        slow = rows.NewRevocation("token.slow", is_demo=False, revoked_at=T0, expires_at=T0 + timedelta(1),
                                  revoked_by="x", reason="")  # fmt: skip
        await rows.insert(connection, slow)
        quick = asyncio.create_task(log_out(second_replica, bearer("ana", "quick")))
        await second_replica.wait_for_blocked()
        assert await listed(second_replica) == []
    recorded = await quick
    assert [each.revocation_no for each in await listed(second_replica)] == [
        recorded.revocation_no - 1,
        recorded.revocation_no,
    ]


@pytest.mark.guarantee("G11")
async def test_g11_expired_revocations_are_removed_and_guests_are_bounded(
    wallet: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocation_service, "DEMO_REVOCATIONS_LIMIT", 3)
    monkeypatch.setattr(sweep, "SWEEP_ROWS_LIMIT", 2)
    for number in range(3):
        await log_out(wallet, bearer(f"demo-0000000{number}", str(number), "demo"))
    with pytest.raises(Refused) as refused:
        await log_out(wallet, bearer("demo-00000009", "9", "demo"))
    assert refused.value.reason == "OVERLOADED"
    # The same guest again is no other, and neither players nor operators wait for guests.
    await log_out(wallet, bearer("demo-00000002", "2", "demo"))
    await log_out(wallet, bearer("ana", "ana"))
    await revoke_subject(wallet, "demo-00000009")
    swept = RevocationSweep(wallet.engine, wallet.clock)
    assert await swept.sweep() == 0
    wallet.clock.advance(3600 + CLOCK_SKEW_S)
    assert [each.key.partition(".")[0] for each in await listed(wallet)] == ["subject"]
    assert [await swept.sweep() for _ in range(3)] == [2, 2, 0]
    assert await wallet.count("SELECT count(*) FROM revocations") == 1
