"""The user that a command runs as: a server that refuses root runs as an unprivileged one."""

from __future__ import annotations

import os
import pwd
import subprocess
from typing import TypedDict

# A child that runs as another user is forked before its command begins. The handlers that gRPC has for forks end about
# one in five such children of a process that makes calls, and serve only those that go on in Python, which ours never
# do. gRPC reads this when its first server or channel is made.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")


class UserArguments(TypedDict, total=False):
    """The arguments of `subprocess` that choose a user; empty for ourselves."""

    user: int
    group: int
    extra_groups: list[int]


def arguments_for_user(user: str | None) -> UserArguments:
    """The arguments for a user with its own group and none of ours."""
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def succeeds_as(user: str, command: list[str]) -> bool:
    """Whether a command succeeds as that user: tried, since modes, access lists and mounts all matter."""
    try:
        return (
            subprocess.run(command, cwd="/", capture_output=True, check=False, **arguments_for_user(user)).returncode
            == 0
        )
    except PermissionError:
        return False
