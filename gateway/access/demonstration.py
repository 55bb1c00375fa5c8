"""Issues tokens for demonstrations of the games (`804/2015:30`): the gateway's own, good for nothing else."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from feltro.gateway.v1 import gateway_pb2
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import DEMO, DEMO_ID_PREFIX
from services.kit.access.signing_key import SigningKey

ISSUER = "feltro-gateway"
TOKEN_LIFETIME_S = 4 * 3600


class DemoTokenIssuer:
    """Makes each guest a new player, with an id that no account for real money is ever opened for."""

    def __init__(self, key: SigningKey | None, audience: str, wall_time: Callable[[], float] = time.time) -> None:
        """Without a key no demonstrations are offered."""
        self._key = key
        self._audience = audience
        self._wall_time = wall_time

    def issue(self) -> gateway_pb2.EnterDemoResponse:
        """Issues the token of a new guest."""
        if self._key is None:
            raise GatewayRefused(
                "NOT_OFFERED", "Demonstrations are not offered here.", setting="FELTRO_GATEWAY_DEMO_KEY"
            )
        now = int(self._wall_time())
        player_id = f"{DEMO_ID_PREFIX}{secrets.token_hex(10)}"
        claims = {"iss": ISSUER, "aud": self._audience, "sub": player_id, "scope": DEMO, "iat": now}
        claims |= {"exp": now + TOKEN_LIFETIME_S, "jti": secrets.token_hex(16)}
        answer = gateway_pb2.EnterDemoResponse(token=self._key.sign(claims), player_id=player_id)
        answer.expires_at.FromSeconds(now + TOKEN_LIFETIME_S)
        return answer

    def jwks(self) -> str:
        """Returns the public keys that services verify these tokens with."""
        return '{"keys": []}' if self._key is None else self._key.jwks()
