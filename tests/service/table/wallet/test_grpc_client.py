"""A game service whose own token the wallet refuses."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message

from feltro.wallet.v1 import session_pb2
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.rpc.server import GrpcServer
from services.kit.table.wallet.client import ServiceTokenRefused
from services.kit.table.wallet.grpc_client import GrpcWallet
from stack.issuer import DevelopmentIssuer


class UnreachedSessionService:
    """A SessionService that no call reaches."""

    descriptor = session_pb2.DESCRIPTOR.services_by_name["SessionService"]

    async def _answer(self, _request: Message, _caller: Caller) -> Message:
        raise AssertionError("the token should have been refused")

    start_session = end_session = end_player_sessions = record_activity = get_session = list_sessions = _answer
    list_table_sessions = announce_round = set_inactivity_policy = list_inactivity_policy_changes = _answer
    get_inactivity_policy = _answer
    advance_session_clock = apply_specific_rules = _answer


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("minutes", [-10.0, 60.0], ids=["expired", "of another scope"])
async def test_g12_a_refused_service_token_is_no_refusal_of_the_player(tmp_path: Path, minutes: float) -> None:
    """Payments are repeated until the token is accepted; the player is not asked to log in."""
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    token = issuer.token(["game" if minutes < 0 else "nothing"], "roulette", minutes)
    server = GrpcServer(
        "127.0.0.1:0",
        TokenVerifier(issuer.jwks, "feltro"),
        [UnreachedSessionService()],
        "wallet.feltro",
        lambda _: None,
    )
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        wallet = GrpcWallet(channel, lambda: (("authorization", f"Bearer {token}"),))
        with pytest.raises(ServiceTokenRefused, match=r"TOKEN_EXPIRED|SCOPE_MISSING"):
            await wallet.get_session(session_pb2.GetSessionRequest(session_id="s"))
    await server.stop(0)
