"""Asks the wallet for revocations, and has it record them."""

from __future__ import annotations

from feltro.wallet.v1 import revocation_pb2 as pb
from gateway.access.principals import Principal
from gateway.backends.dispatcher import CallContext, CallDispatcher
from gateway.backends.trusted_addresses import ServiceAddress
from gateway.backends.upstream import Upstream
from gateway.contracts.methods import Method
from gateway.contracts.refusals import unavailable
from services.kit.rpc.relay_connection import NoAnswer

_METHODS = pb.DESCRIPTOR.services_by_name["RevocationService"].methods_by_name
_LIST, _REVOKE_TOKEN, _REVOKE_TOKENS_OF = (
    Method(_METHODS[name], {}) for name in ("ListRevocations", "RevokeToken", "RevokeTokensOf")
)


class WalletRevocations:
    """Implements `RevocationStore`. The wallet is called with the caller's token: a gateway has none."""

    def __init__(self, dispatcher: CallDispatcher, upstream: Upstream, wallet: ServiceAddress) -> None:
        self._dispatcher = dispatcher
        self._upstream = upstream
        self._wallet = wallet

    async def page(self, request: pb.ListRevocationsRequest) -> pb.ListRevocationsResponse:
        """Asked again and again, so an outage is logged by the caller, once."""
        try:
            answer = await self._upstream.call(self._wallet, _LIST.path, "", request.SerializeToString())
        except NoAnswer as silent:
            raise unavailable("The wallet does not answer.") from silent
        return pb.ListRevocationsResponse.FromString(answer)

    async def revoke_token(self, principal: Principal, reason: str) -> pb.Revocation:
        request = pb.RevokeTokenRequest(reason=reason)
        answer = await self._dispatcher.dispatch(_REVOKE_TOKEN, request, CallContext(principal))
        return pb.RevokeTokenResponse.FromString(answer).revocation

    async def revoke_subject(self, principal: Principal, subject: str, reason: str) -> pb.Revocation:
        request = pb.RevokeTokensOfRequest(subject=subject, reason=reason)
        answer = await self._dispatcher.dispatch(_REVOKE_TOKENS_OF, request, CallContext(principal))
        return pb.RevokeTokensOfResponse.FromString(answer).revocation
