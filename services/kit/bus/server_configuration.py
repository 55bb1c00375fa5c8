"""Writes the accounts of a NATS server: one for the streams, and one for each kind of process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from services.kit.bus.permissions import MONITOR, OPERATOR, Permissions
from services.kit.bus.subjects import API_PREFIX

# The account of the streams, and the server's own.
STREAMS_ACCOUNT, SYSTEM_ACCOUNT = "FELTRO", "SYS"


def account_of(user: str) -> str:
    """Returns the account of one kind of process."""
    return f"{STREAMS_ACCOUNT}_{user}"


def accounts(platform: Iterable[Permissions], passwords: Mapping[str, str]) -> str:
    """Returns the `accounts` of a server's configuration.

    `passwords` are values of the configuration by user, a quoted string or the name of a variable (`$NAME`). The user
    `operator` may do everything to the streams, for tools and repairs; `monitor` sees the server's own account.
    """
    processes = list(platform)
    lines = [
        "accounts {",
        f"  {STREAMS_ACCOUNT} {{",
        "    jetstream: enabled",
        f"    users: [{_user(OPERATOR, passwords)}]",
        f"    mappings: {{{_quoted(f'{API_PREFIX}.>')}: {_quoted('$JS.API.>')}}}",
        "    exports: [",
        *(f"      {line}" for line in _exports(processes)),
        "    ]",
        "  }",
    ]
    for permissions in processes:
        lines += [
            f"  {_quoted(account_of(permissions.user))} {{",
            f"    users: [{_user(permissions.user, passwords)}]",
            "    exports: [",
            *(f"      {line}" for line in _private_exports(permissions)),
            "    ]",
            "    imports: [",
            *(f"      {line}" for line in (*_imports(permissions), *_private_imports(permissions.user, processes))),
            "    ]",
            "  }",
        ]
    lines += [
        f"  {SYSTEM_ACCOUNT} {{ users: [{_user(MONITOR, passwords)}] }}",
        "}",
        f"system_account: {SYSTEM_ACCOUNT}",
    ]
    return "\n".join(lines) + "\n"


def _exports(processes: list[Permissions]) -> list[str]:
    """One export for each subject, for it may have one only, with the accounts that may use it."""
    users: dict[tuple[str, str], list[str]] = {}
    for permissions in processes:
        for subject in permissions.publishes:
            users.setdefault((f"service: {_quoted(subject)}", ""), []).append(permissions.user)
        for request in permissions.requests:
            users.setdefault((f"service: {_quoted(_api(request))}", ""), []).append(permissions.user)
        for request in permissions.reads:
            users.setdefault((f"service: {_quoted(_api(request))}", ", response: stream"), []).append(permissions.user)
        for subject in permissions.hears:
            users.setdefault((f"stream: {_quoted(subject)}", ""), []).append(permissions.user)
    return [
        f"{{{exported}{response}, accounts: [{', '.join(_quoted(account_of(user)) for user in names)}]}}"
        for (exported, response), names in users.items()
    ]


def _imports(permissions: Permissions) -> list[str]:
    return [
        *(f"{{service: {_from_streams(subject)}}}" for subject in permissions.publishes),
        *(
            f"{{service: {_from_streams(_api(request))}, to: {_quoted(f'{API_PREFIX}.{request}')}}}"
            for request in (*permissions.requests, *permissions.reads)
        ),
        *(f"{{stream: {_from_streams(subject)}}}" for subject in permissions.hears),
    ]


def _private_exports(permissions: Permissions) -> list[str]:
    return [
        f"{{stream: {_quoted(subject)}, accounts: [{_quoted(account_of(listener))}]}}"
        for subject, listener in permissions.tells
    ]


def _private_imports(user: str, processes: list[Permissions]) -> list[str]:
    return [
        f"{{stream: {{account: {_quoted(account_of(teller.user))}, subject: {_quoted(subject)}}}}}"
        for teller in processes
        for subject, listener in teller.tells
        if listener == user
    ]


def _from_streams(subject: str) -> str:
    return f"{{account: {STREAMS_ACCOUNT}, subject: {_quoted(subject)}}}"


def _api(request: str) -> str:
    return f"$JS.API.{request}"


def _user(name: str, passwords: Mapping[str, str]) -> str:
    return f"{{user: {_quoted(name)}, password: {passwords[name]}}}"


def _quoted(text: str) -> str:
    return json.dumps(text)
