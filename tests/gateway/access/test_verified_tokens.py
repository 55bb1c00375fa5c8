"""Verified tokens are cached: one in use is not verified again, however many others come in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.settings import GatewaySettings
from services.kit.access import identity
from services.kit.access.identity import TokenVerifier
from stack.issuer import AUDIENCE, DevelopmentIssuer


@pytest.mark.guarantee("G11")
async def test_g11_the_token_that_was_used_longest_ago_is_forgotten_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "VERIFIED_TOKENS_LIMIT", 3)
    issuer = DevelopmentIssuer(tmp_path)
    issuer.prepare()
    verifier = TokenVerifier(issuer.jwks, AUDIENCE)
    in_use, checked, *others = [issuer.token(["player"], f"p{number}") for number in range(6)]
    for token in others:
        await verifier.authenticate(in_use)
        verifier.verify(checked)
        await verifier.authenticate(token)
    assert [verifier.has_verified(token) for token in (in_use, checked, *others)] == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]


def test_the_tokens_of_all_connections_fit_the_cache() -> None:
    assert GatewaySettings.model_fields["connections"].default < identity.VERIFIED_TOKENS_LIMIT
