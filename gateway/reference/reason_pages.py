"""The page of every reason for which a call may be refused: what it means, its status, and which calls give it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

from aiohttp import web

from gateway.contracts import json_codec
from gateway.contracts.methods import Contracts
from gateway.contracts.reasons import Reason, ReasonSets, title_of
from gateway.http.problems import PROBLEMS_PATH, method_unknown


class ReasonPages:
    """`/problems`, for programs and for people."""

    def __init__(self, contracts: Contracts, reasons: ReasonSets) -> None:
        self._meanings: dict[str, list[Reason]] = {}
        for reason in sorted(reasons, key=lambda one: (one.name, one.domain)):
            self._meanings.setdefault(reason.name, []).append(reason)
        self._calls: dict[Reason, list[str]] = {reason: [] for reason in reasons}
        for method in contracts.methods:
            for reason in reasons.for_method(method):
                self._calls[reason].append(method.rpc_name)

    def install(self, application: web.Application) -> None:
        application.router.add_get(PROBLEMS_PATH, self._list)
        application.router.add_get(f"{PROBLEMS_PATH}/{{reason}}", self._one)

    async def _list(self, request: web.Request) -> web.Response:
        if _is_for_people(request):
            return _page("Reasons", [self._section(name) for name in self._meanings])
        return _json({"reasons": [self._told(name) for name in self._meanings]})

    async def _one(self, request: web.Request) -> web.Response:
        name = request.match_info["reason"]
        if name not in self._meanings:
            raise method_unknown("No error has this reason.", f"{request.method} {request.rel_url.raw_path}")
        if _is_for_people(request):
            return _page(title_of(name), [self._section(name)])
        return _json(self._told(name))

    def _told(self, name: str) -> dict[str, object]:
        meanings = self._meanings[name]
        return {
            "reason": name,
            "title": title_of(name),
            "meanings": {one.domain: one.description for one in meanings},
            "statuses": {one.domain: one.status for one in meanings},
            "calls": {one.domain: self._calls[one] for one in meanings},
        }

    def _section(self, name: str) -> str:
        said = "".join(_meaning(one, self._calls[one]) for one in self._meanings[name])
        return f'<section id="{name}"><h2>{title_of(name)} <code>{name}</code></h2>{said}</section>'


def _meaning(reason: Reason, calls: Sequence[str]) -> str:
    links = ", ".join(f'<a href="/docs#{call.replace(".", "_")}">{call}</a>' for call in calls)
    by = f"<p>May be answered by {links}.</p>" if links else "<p>No call over REST is refused for it.</p>"
    return f"<p><b>{reason.domain}</b> {reason.status} {html.escape(reason.description)}</p>{by}"


def _is_for_people(request: web.Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


_HEADERS: Mapping[str, str] = {"Cache-Control": "public, max-age=3600", "Vary": "Accept"}


def _json(said: dict[str, object]) -> web.Response:
    return web.Response(body=json_codec.dumps(said), content_type="application/json", headers=_HEADERS)


def _page(title: str, sections: Iterable[str]) -> web.Response:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="/pages.css"></head>'
        f"<body><main><header><h1>{html.escape(title)}</h1></header>{''.join(sections)}</main></body></html>"
    )
    return web.Response(text=text, content_type="text/html", headers=_HEADERS)
