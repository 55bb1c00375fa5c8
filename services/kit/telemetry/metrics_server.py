"""Serves a process's metrics over HTTP, and `/readyz` beside them: whether calls may be sent to the process.

It is what Kubernetes asks for readiness: a program that asked over gRPC would cost as much as the process itself when
the machine is busy, and would fail just then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

READY_PATH = "/readyz"
_TEXT = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature of the base
        """Probes and scrapes come every few seconds, and are not logged."""


def start(listen: str, is_ready: Callable[[], bool]) -> None:
    """Answers at the address, in a thread of its own, until the process ends."""
    metrics = make_wsgi_app()

    def answer(environment: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environment["PATH_INFO"] != READY_PATH:
            found: Iterable[bytes] = metrics(environment, start_response)
            return found
        ready = is_ready()
        # The server adds the answer's length to the list that it is given.
        start_response("200 OK" if ready else "503 Service Unavailable", list(_TEXT))
        return [b"ready\n" if ready else b"not ready\n"]

    host, _, port = listen.rpartition(":")
    server = make_server(host, int(port), answer, _Server, _QuietHandler)
    threading.Thread(target=server.serve_forever, daemon=True, name="metrics").start()
