"""Finds ports that are taken before anything starts: by which process, and how to move them."""

from __future__ import annotations

import socket
from collections.abc import Mapping

import psutil

from stack.settings import LOOPBACK


def conflicts(ports: Mapping[str, int]) -> list[str]:
    """One sentence for each port that cannot be used; `ports` are named by the variable that moves them."""
    found = []
    seen: dict[int, str] = {}
    for variable, port in ports.items():
        if port in seen:
            found.append(f"{variable} and {seen[port]} are both {port}: set one of them to another port.")
        elif not _free(port):
            choice = f"{variable}={_next_free(port)}"
            found.append(f"Port {port} is taken{_owner(port)}. Free it, or choose another: {choice} make run")
        seen[port] = variable
    return found


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do it: a port whose last connections are in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def _next_free(port: int) -> int:
    return next((other for other in range(port + 100, 65536, 100) if _free(other)), port)


def _owner(port: int) -> str:
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return ""
    for connection in connections:
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
            return _name(connection.pid)
    return ""


def _name(process: int | None) -> str:
    if process is None:
        return " by a process of another user"
    try:
        return f" by {psutil.Process(process).name()} (process {process})"
    except psutil.Error:
        return f" by process {process}"
