"""What schemathesis has to know about this platform: tokens, existing ids, and permitted refusals of valid requests.

Runs in an environment of its own, see `tests.api.run`.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from pathlib import Path
from typing import Any, Protocol

import schemathesis


class Case(Protocol):
    """A request that schemathesis is about to send."""

    operation: Any
    meta: Any
    headers: dict[str, str] | None
    path_parameters: dict[str, Any]
    body: object


class Response(Protocol):
    """The answer to a request."""

    status_code: int

    def json(self) -> dict[str, Any]: ...


_PREPARED = json.loads(Path(os.environ["FELTRO_API_PREPARED"]).read_text())
_TOKEN, *_LOGOUT_TOKENS = list[str](_PREPARED["tokens"])
_NEXT_LOGOUT_TOKEN = iter(_LOGOUT_TOKENS)
_EXISTING = {name: itertools.cycle(ids) for name, ids in _PREPARED["existing"].items()}
_CALLS = itertools.count()


@schemathesis.auth(refresh_interval=None)
class Tokens:
    """One token for all calls, and another for each logout."""

    def get(self, case: Case, _: object) -> str:
        return next(_NEXT_LOGOUT_TOKEN) if case.operation.path.endswith("/logout") else _TOKEN

    def set(self, case: Case, data: str, _: object) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.hook  # type: ignore[untyped-decorator]
def before_call(_: object, case: Case, __: object) -> None:
    """Puts ids that exist into every other call: invented ones never do."""
    if isinstance(case.body, dict) and case.body.get("subject") in _PREPARED["existing"]["player_id"]:
        # Schemathesis reuses ids of answers, and would revoke its own tokens.
        case.body["subject"] = "somebody_else"
    for name, value in list((case.path_parameters or {}).items()):
        if value == "" and name in _EXISTING:
            # A switch of a whole game names no table: the path would be another one.
            case.path_parameters[name] = next(_EXISTING[name])
    if case.meta is None or case.meta.generation.mode.is_negative or next(_CALLS) % 2:
        return
    for name in case.path_parameters or {}:
        if name in _EXISTING:
            case.path_parameters[name] = next(_EXISTING[name])


# No schema can express what depends on other fields, on stored data or on the clock: by operation, the fields for
# which a service may refuse what the document allows (INVALID) …
_DEPENDENT_FIELDS: dict[str, set[str]] = {
    # The table has so many seats.
    "TableService_EnterTable": {"seat"},
    # One of several fields has to be set.
    "ComplaintService_FileComplaint": {"round_id"},
    "WalletService_ListOpenRounds": {"account_id"},
    "WalletService_ListTransactions": {"account_id"},
    "TicketService_ListTickets": {"account_id"},
    "TableService_SetSwitch": {"table_id"},
    # The scope of the caller decides what may be left out, or set.
    "SessionService_EndSession": {"cause"},
    "SessionService_EndPlayerSessions": {"cause"},
    # A clock goes forward only, and not for ever.
    "SessionService_AdvanceSessionClock": {"by_ms"},
    "TableService_AdvanceTableClock": {"by_ms"},
    # What a table is never changes, and each game has rules of its own.
    "TableService_ConfigureTable": {
        "effective_at",
        "configuration.regulation",
        "configuration.mode",
        "configuration.play",
        "configuration.seats",
        "configuration.dealing_ms",
        "configuration.decision_ms",
        "configuration.open_hand_hours",
        "configuration.rules",
        "configuration.rules.maxima[0].kind",
        "configuration.inactivity.rebuy_grace_seconds",
        # Of poker: amounts and times that have to fit each other, or where 0 means a default outside of the bounds.
        *(
            f"configuration.rules.{name}"
            for name in (
                "allowed_aids",
                "approvals",
                "approvals[0]",
                "bet_units",
                "cave_max_cents",
                "commission_cap_cents",
                "decision_time_s",
                "gateway_pause_s",
                "period",
                "period.begins_at",
                "period.ends_at",
                "rebuy_grace_s",
                "recovery_limit_s",
                "small_blind_cents",
                "time_bank_cap_s",
                "top_up_to_max_cents",
                "top_up_to_min_cents",
            )
        ),
    },
    # A move is of the table's game.
    "TableService_Act": {"move"},
    "SessionService_SetInactivityPolicy": {"policy.rebuy_grace_seconds"},
}
# … the fields of all operations: a token stands for a place in one list …
_DEPENDENT_EVERYWHERE = {"page_token"}
# … and the reasons that name the broken rule of a game or of the regulation.
_RULE_REASONS = {"RULE_VIOLATED", "BET_ILLEGAL", "BELOW_MINIMUM", "ODD_CENTS"}


@schemathesis.check  # type: ignore[untyped-decorator]
def accepts_documented_requests(_: object, response: Response, case: Case) -> None:
    """Fails if a request that the document allows is refused, unless the refusal depends on more than one field."""
    if response.status_code != 400 or case.meta is None or case.meta.generation.mode.is_negative:
        return
    problem = response.json()
    if problem["domain"] != "gateway.feltro" and problem["reason"] in _RULE_REASONS:
        return
    field = re.sub(r"\[\d+\]", "[0]", problem["facts"].get("field", ""))
    operation = case.operation.definition.raw["operationId"]
    # What the gateway cannot read of a call to another service, the document has to say.
    unreadable = problem["domain"] == "gateway.feltro" and not operation.startswith("GatewayService_")
    if unreadable or field not in _DEPENDENT_EVERYWHERE | _DEPENDENT_FIELDS.get(operation, set()):
        raise AssertionError(f"{operation} does not take what its document allows: {problem['detail']}")
