"""The site's pages: plain HTML in the style of the gateway's own, without scripts."""

from __future__ import annotations

import html
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from stack.operator_site.accounts import Balance
from stack.operator_site.logins import NAME_CHARACTERS_LIMIT
from stack.operator_site.phrases import PHRASES, euros

SUGGESTED_NAMES = ("ana", "bea", "rui", "tiago")
DEPOSITS_CENTS = (10_00, 50_00, 100_00)


@dataclass(frozen=True)
class Page:
    """One page as it is shown: in a language, with the address to go back to."""

    language: str
    return_to: str

    def phrase(self, name: str, /, **facts: str) -> str:
        """A phrase in the page's language."""
        return PHRASES[self.language][name].format(**facts)

    def login(self, problem: str = "") -> str:
        """The login form."""
        names = "".join(
            f'<button name="name" value="{name}" aria-label="{self._safe("as", name=name)}">{name}</button>'
            for name in SUGGESTED_NAMES
        )
        field = (
            f'<label for="name">{self._safe("name")}</label>'
            f'<input id="name" name="name" required maxlength="{NAME_CHARACTERS_LIMIT}" pattern="[A-Za-z0-9_\\-]+"'
            ' autocomplete="username" autocapitalize="none" spellcheck="false" aria-describedby="hint">'
            f'<small id="hint">{self._safe("name_hint")}</small>'
        )
        body = [
            f"<p>{self._safe('login_lead')}</p>",
            _alert(problem),
            self._form("/login", f"{field}<button>{self._safe('login')}</button>"),
            f"<p>{self._safe('suggested')}</p>",
            self._form("/login", f'<div class="row">{names}</div>'),
        ]
        return self._page("/login", "login", body)

    def cashier(self, name: str, balance: Balance, problem: str = "", done: str = "") -> str:
        """The cashier: deposit and withdrawal."""
        amounts = "".join(
            f'<button name="amount_cents" value="{cents}">{self._money(cents)}</button>' for cents in DEPOSITS_CENTS
        )
        amount = (
            f'<label for="amount">{self._safe("amount")}</label>'
            '<input id="amount" name="amount" required inputmode="decimal" autocomplete="off" maxlength="11">'
        )
        funds = (
            f"<dl><div><dt>{self._safe('free')}</dt><dd>{self._money(balance.free_cents)}</dd></div>"
            f"<div><dt>{self._safe('locked')}</dt><dd>{self._money(balance.locked_cents)}</dd></div></dl>"
        )
        body = [
            f"<p>{self._safe('player', name=name)}</p>",
            _alert(problem),
            f'<p role="status">{html.escape(done)}</p>' if done else "",
            funds,
            f"<h3>{self._safe('deposit')}</h3>",
            self._form("/cashier", f'<div class="row">{amounts}</div>', {"move": "deposit"}),
            f"<h3>{self._safe('withdraw')}</h3>",
            self._form("/cashier", f"{amount}<button>{self._safe('withdraw')}</button>", {"move": "withdrawal"}),
            f'<p><a href="{html.escape(self.return_to)}">{self._safe("back")}</a></p>',
        ]
        return self._page("/cashier", "cashier", body)

    def error(self, path: str, sentence: str) -> str:
        """A page that only says why something cannot be done now."""
        return self._page(path, "login" if path == "/login" else "cashier", [_alert(sentence)])

    def address(self, path: str, **more: str) -> str:
        """The address of a page of ours, which carries the address to go back to."""
        return f"{path}?{urlencode({'return_to': self.return_to, **more})}"

    def _form(self, path: str, inside: str, more: Mapping[str, str] | None = None) -> str:
        # The key is made with the form: sent twice, it acts once.
        fields = {"return_to": self.return_to, "command": str(uuid.uuid4()), **(more or {})}
        hidden = "".join(f'<input type="hidden" name="{name}" value="{html.escape(fields[name])}">' for name in fields)
        return f'<form method="post" action="{path}">{hidden}{inside}</form>'

    def _page(self, path: str, title: str, body: list[str]) -> str:
        other = self.phrase("other")
        elsewhere = self.address(path, language=other)
        return (
            f'<!doctype html><html lang="{self.language}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{self._safe(title)} · Feltro</title><link rel="icon" href="data:,">'
            '<link rel="stylesheet" href="/pages.css"><link rel="stylesheet" href="/site.css"></head><body><main>'
            f'<header><h1>Feltro</h1><a href="{html.escape(elsewhere)}" lang="{other}">{self._safe("other_name")}</a>'
            f"</header><section><h2>{self._safe(title)}</h2>{''.join(body)}</section>"
            f'<p class="quiet">{self._safe("development")}</p></main></body></html>'
        )

    def _safe(self, name: str, /, **facts: str) -> str:
        return html.escape(self.phrase(name, **facts))

    def _money(self, cents: int) -> str:
        return euros(cents, self.language)


def _alert(sentence: str) -> str:
    return f'<p role="alert">{html.escape(sentence)}</p>' if sentence else ""
