"""Serves a page for every reason of a refusal: its meaning, its status, and the calls that give it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

from aiohttp import web

from gateway.contracts.methods import Contracts
from gateway.contracts.reasons import Reason, ReasonSets, title_of
from gateway.http.documents import json_response
from gateway.http.problems import PROBLEMS_PATH, method_unknown
from gateway.http.security_headers import PAGE_HEADERS


class ReasonPages:
    """Serves `/problems`, for programs and for people."""

    def __init__(self, contracts: Contracts, reasons: ReasonSets) -> None:
        self._meanings: dict[str, list[Reason]] = {}
        for reason in sorted(reasons, key=lambda reason: (reason.name, reason.domain)):
            self._meanings.setdefault(reason.name, []).append(reason)
        self._calls: dict[Reason, list[str]] = {reason: [] for reason in reasons}
        for method in contracts.methods:
            for reason in reasons.for_method(method):
                self._calls[reason].append(method.rpc_name)

    def install(self, application: web.Application) -> None:
        application.router.add_get(PROBLEMS_PATH, self._list)
        application.router.add_get(f"{PROBLEMS_PATH}/{{reason}}", self._page_of_reason)

    async def _list(self, request: web.Request) -> web.Response:
        if _accepts_html(request):
            return _page("Reasons", [self._section(name) for name in self._meanings])
        return json_response({"reasons": [self._json(name) for name in self._meanings]}, headers=_HEADERS)

    async def _page_of_reason(self, request: web.Request) -> web.Response:
        name = request.match_info["reason"]
        if name not in self._meanings:
            raise method_unknown("No error has this reason.", f"{request.method} {request.rel_url.raw_path}")
        if _accepts_html(request):
            return _page(title_of(name), [self._section(name)])
        return json_response(self._json(name), headers=_HEADERS)

    def _json(self, name: str) -> dict[str, object]:
        meanings = self._meanings[name]
        return {
            "reason": name,
            "title": title_of(name),
            "meanings": {reason.domain: reason.description for reason in meanings},
            "statuses": {reason.domain: reason.status for reason in meanings},
            "calls": {reason.domain: self._calls[reason] for reason in meanings},
        }

    def _section(self, name: str) -> str:
        text = "".join(_meaning(reason, self._calls[reason]) for reason in self._meanings[name])
        return f'<section id="{name}"><h2>{title_of(name)} <code>{name}</code></h2>{text}</section>'


def _meaning(reason: Reason, calls: Sequence[str]) -> str:
    links = ", ".join(f'<a href="/docs#{call.replace(".", "_")}">{call}</a>' for call in calls)
    answered = f"<p>May be answered by {links}.</p>" if links else "<p>No call over REST is refused for it.</p>"
    return f"<p><b>{reason.domain}</b> {reason.status} {html.escape(reason.description)}</p>{answered}"


def _accepts_html(request: web.Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


_HEADERS: Mapping[str, str] = {"Cache-Control": "public, max-age=3600", "Vary": "Accept"}


def _page(title: str, sections: Iterable[str]) -> web.Response:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="/pages.css"></head>'
        f"<body><main><header><h1>{html.escape(title)}</h1></header>{''.join(sections)}</main></body></html>"
    )
    return web.Response(text=text, content_type="text/html", headers={**PAGE_HEADERS, **_HEADERS})
