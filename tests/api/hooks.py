"""What schemathesis has to know of this platform: its tokens, and what the gateway may answer to a valid request.

Runs in an environment of its own, see `tests.api.run`.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any, Protocol

import schemathesis


class Case(Protocol):
    """What schemathesis is about to send."""

    operation: Any
    meta: Any
    headers: dict[str, str] | None
    path_parameters: dict[str, Any]
    body: object


class Response(Protocol):
    """What came back."""

    status_code: int

    def json(self) -> dict[str, Any]: ...


_GIVEN = json.loads(Path(os.environ["FELTRO_API_GIVEN"]).read_text())
_TOKEN, *_SPARE = list[str](_GIVEN["tokens"])
_SPENT = iter(_SPARE)
_THERE = {name: itertools.cycle(ids) for name, ids in _GIVEN["there"].items()}
_CALLS = itertools.count()


@schemathesis.auth(refresh_interval=None)
class Tokens:
    """One for everything, and for each logging out one that nobody needs afterwards."""

    def get(self, case: Case, _: object) -> str:
        return next(_SPENT) if case.operation.path.endswith("/logout") else _TOKEN

    def set(self, case: Case, data: str, _: object) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.hook  # type: ignore[untyped-decorator]
def before_call(_: object, case: Case, __: object) -> None:
    """Every other call is about something that is there: what is made up by chance never is."""
    if isinstance(case.body, dict) and case.body.get("subject") in _GIVEN["there"]["player_id"]:
        # It has heard who it is, and would take back its own tokens.
        case.body["subject"] = "somebody_else"
    for name, value in list((case.path_parameters or {}).items()):
        if value == "" and name in _THERE:
            # It has heard of a switch of a whole game, which names no table: its path would lead elsewhere.
            case.path_parameters[name] = next(_THERE[name])
    if case.meta is None or case.meta.generation.mode.is_negative or next(_CALLS) % 2:
        return
    for name in case.path_parameters or {}:
        if name in _THERE:
            case.path_parameters[name] = next(_THERE[name])


# What hangs on other fields, on what is there already, or on the clock, and so on no schema: for each operation the
# fields for which a service may find that what the document allows cannot be (INVALID) …
_HANGS_ON_MORE: dict[str, set[str]] = {
    # Exactly one of several has to be given.
    "ComplaintService_FileComplaint": {"round_id"},
    "WalletService_ListOpenRounds": {"account_id"},
    "WalletService_ListTransactions": {"account_id"},
    "WalletService_ListTransactions_2": {"account_id"},
    "WalletService_ListTransactions_3": {"account_id"},
    "TableService_SetSwitch": {"table_id"},
    # Who asks decides what he may leave out, or say.
    "SessionService_EndSession": {"cause"},
    "SessionService_EndPlayerSessions": {"cause"},
    # A clock that goes forward only, and not for ever.
    "SessionService_AdvanceSessionClock": {"by"},
    "TableService_AdvanceTableClock": {"by"},
    # What a table is never changes, and what a game allows is its own to say.
    "TableService_ConfigureTable": {"effective_at", "regulation", "mode", "play", "seats", "maxima"},
    "SessionService_SetInactivityPolicy": {"rebuy_grace_seconds"},
}
# … everywhere: a token stands for a place in one list …
_EVERYWHERE = {"page_token"}
# … and the reasons that say themselves which rule of a game or of the regulation is broken.
_RULES = {"RULE_VIOLATED", "BET_ILLEGAL", "BELOW_MINIMUM", "ODD_CENTS"}


@schemathesis.check  # type: ignore[untyped-decorator]
def accepts_documented_requests(_: object, response: Response, case: Case) -> None:
    """Whatever the document allows can be read, and is within all bounds that do not hang on more than one field."""
    if response.status_code != 400 or case.meta is None or case.meta.generation.mode.is_negative:
        return
    problem = response.json()
    if problem["domain"] != "gateway.feltro" and problem["reason"] in _RULES:
        return
    field = problem["facts"].get("field", "")
    operation = case.operation.definition.raw["operationId"]
    if problem["domain"] == "gateway.feltro" or field not in _EVERYWHERE | _HANGS_ON_MORE.get(operation, set()):
        raise AssertionError(f"{operation} does not take what its document allows: {problem['detail']}")
