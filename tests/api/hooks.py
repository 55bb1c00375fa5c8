"""What schemathesis has to know of this platform: its tokens, and what the gateway may answer to a valid request.

Runs in an environment of its own, see `tests.api.run`.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any, Protocol

import schemathesis


class Case(Protocol):
    """What schemathesis is about to send."""

    operation: Any
    meta: Any
    headers: dict[str, str] | None


class Response(Protocol):
    """What came back."""

    status_code: int

    def json(self) -> dict[str, str]: ...


_TOKEN, *_SPARE = Path(os.environ["FELTRO_API_TOKENS"]).read_text().split()
_SPENT = itertools.cycle(_SPARE)


@schemathesis.auth(refresh_interval=None)
class Tokens:
    """One for everything, and for each logging out one that nobody needs afterwards."""

    def get(self, case: Case, _: object) -> str:
        return next(_SPENT) if case.operation.path.endswith("/logout") else _TOKEN

    def set(self, case: Case, data: str, _: object) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.check  # type: ignore[untyped-decorator]
def taken_by_the_gateway(_: object, response: Response, case: Case) -> None:
    """The gateway itself can read whatever its document allows; a service may still find that it cannot be."""
    if response.status_code != 400 or case.meta is None or case.meta.generation.mode.is_negative:
        return
    problem = response.json()
    if problem["domain"] == "gateway.feltro" and "operator" not in problem["instance"]:
        raise AssertionError(f"the gateway cannot read what its document allows: {problem['detail']}")
