"""One call to the gateway, as any program makes it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

Json = dict[str, Any]

TIMEOUT_S = 60.0
# The gateway runs on this machine: a proxy of the environment must not be asked.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(address: str, token: str, body: Mapping[str, Any] | None = None) -> Json:
    """Calls the gateway: with a body it is a command, under an id of its own. Without a token nobody asks."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    if body is not None:
        headers["Idempotency-Key"] = str(uuid4())
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, content, headers)  # noqa: S310 (our own gateway)
    try:
        with _DIRECT.open(request, timeout=TIMEOUT_S) as answer:
            found: Json = json.load(answer)
    except urllib.error.HTTPError as refused:
        raise AssertionError(f"{address}: {refused.read().decode()}") from refused
    return found
