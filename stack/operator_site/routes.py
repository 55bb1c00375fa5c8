"""The front desk's addresses: login and cashier for people, token and logout for the front-end."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from importlib import resources

import aiohttp
import jwt
from aiohttp import hdrs, web

from gateway.http.documents import SECURITY_HEADERS, Document, page_document
from stack.issuer import DevelopmentIssuer
from stack.operator_site.accounts import CALL_TIMEOUT_S, Accounts, PlatformCallFailed
from stack.operator_site.logins import LIFETIME_S, LoginCookies, is_valid_name
from stack.operator_site.origins import AllowedOrigins, Handler
from stack.operator_site.pages import Page
from stack.operator_site.phrases import DEFAULT_LANGUAGE, PHRASES, euros
from stack.operator_site.settings import OperatorSiteSettings

TOKEN_MINUTES = 15
BODY_BYTES_LIMIT = 4096
# Without a referrer a browser does not say where a form was sent from either, and that is looked at.
_HEADERS = {**SECURITY_HEADERS, "Referrer-Policy": "same-origin"}
_AMOUNT = re.compile(r"([0-9]{1,7})(?:[.,]([0-9]{1,2}))?")


class OperatorSite:
    """One site; it keeps nothing."""

    def __init__(self, settings: OperatorSiteSettings) -> None:
        self._settings = settings
        self._issuer = DevelopmentIssuer(settings.issuer)
        self._visits = LoginCookies(self._issuer.secret())
        # A cookie is sent to every port of an address: two platforms on one machine have their own.
        self._cookie = f"feltro_operator_site_{settings.listen.rpartition(':')[2]}"
        self._language_cookie = f"{self._cookie}_language"
        self._origins = AllowedOrigins(
            settings.origin, settings.gateway, cross_origin_paths=frozenset({"/token", "/logout"})
        )
        self._accounts: Accounts | None = None

    def application(self) -> web.Application:
        """All routes."""
        application = web.Application(client_max_size=BODY_BYTES_LIMIT)
        application.cleanup_ctx.append(self._connected)
        self._origins.add_to(application)
        self._remember_languages(application)
        style = Document((resources.files("stack.operator_site") / "site.css").read_bytes(), "text/css")
        application.add_routes(
            [
                web.get("/", self.home),
                web.get("/healthz", self.health),
                web.get("/pages.css", page_document("pages.css").answer),
                web.get("/site.css", style.answer),
                web.get("/login", self.login_page),
                web.post("/login", self.login),
                web.get("/cashier", self.cashier_page),
                web.post("/cashier", self.cashier),
                web.get("/token", self.token),
                web.post("/logout", self.logout),
            ]
        )
        return application

    async def home(self, _: web.Request) -> web.Response:
        """Nothing is here: the games are elsewhere."""
        return _to(f"{self._settings.gateway}/")

    async def health(self, _: web.Request) -> web.Response:
        return web.Response(text="alive\n", headers=_HEADERS)

    async def login_page(self, request: web.Request) -> web.Response:
        return _html(self._page(request, request.query).login())

    async def login(self, request: web.Request) -> web.Response:
        """He is who he says; the first time there is money in his account."""
        form = await _form(request)
        shown = self._page(request, form)
        name = form.get("name", "").strip()
        if not is_valid_name(name):
            return _html(shown.login(shown.phrase("name_wrong")), status=422)
        try:
            await self._bank.open_account(name)
        except PlatformCallFailed as failed:
            return _html(shown.login(_why(shown, failed)), status=failed.http_status)
        answer = _to(shown.return_to)
        answer.set_cookie(self._cookie, self._visits.issue(name), max_age=LIFETIME_S, httponly=True, samesite="Lax")
        return answer

    async def token(self, request: web.Request) -> web.Response:
        """For the front-end: a token for whoever has logged in."""
        name = self._visitor(request)
        if name is None:
            return web.json_response({"reason": "NOT_LOGGED_IN"}, status=401, headers=_HEADERS)
        token = self._issuer.token(["player"], name, TOKEN_MINUTES)
        until = datetime.fromtimestamp(jwt.decode(token, options={"verify_signature": False})["exp"], UTC)
        said = {"token": token, "expires_at": f"{until:%Y-%m-%dT%H:%M:%SZ}", "player_id": name}
        return web.json_response(said, headers=_HEADERS)

    async def logout(self, _: web.Request) -> web.Response:
        """For the front-end: nobody is logged in any more."""
        answer = web.Response(status=204, headers=_HEADERS)
        answer.del_cookie(self._cookie, httponly=True, samesite="Lax")
        return answer

    async def cashier_page(self, request: web.Request) -> web.Response:
        shown = self._page(request, request.query)
        name = self._visitor(request)
        if name is None:
            return self._login_first(shown)
        return await self._cashier_of(name, shown, done=_done(shown, request.query.get("done", "")))

    async def cashier(self, request: web.Request) -> web.Response:
        """Money in or out; sent twice, a form acts once."""
        form = await _form(request)
        shown = self._page(request, form)
        name = self._visitor(request)
        if name is None:
            return self._login_first(shown)
        cents, move = _cents(form), form.get("move", "")
        if not cents or move not in {"deposit", "withdrawal"}:
            return await self._cashier_of(name, shown, shown.phrase("amount_wrong"), status=422)
        act = self._bank.deposit if move == "deposit" else self._bank.withdraw
        try:
            await act(name, cents, f"site-{move}-{cents}-{_command(form)}")
        except PlatformCallFailed as failed:
            return await self._cashier_of(name, shown, _why(shown, failed), status=failed.http_status)
        return _to(shown.address("/cashier", done=f"{move}-{cents}"))

    async def _cashier_of(
        self, name: str, shown: Page, problem: str = "", done: str = "", status: int = 200
    ) -> web.Response:
        try:
            balance = await self._bank.balance(name)
        except PlatformCallFailed as failed:
            return _html(shown.error("/cashier", _why(shown, failed)), status=failed.http_status)
        return _html(shown.cashier(name, balance, problem, done), status=status)

    def _login_first(self, shown: Page) -> web.Response:
        back = self._settings.origin + shown.address("/cashier")
        return _to(Page(shown.language, back).address("/login"))

    def _remember_languages(self, application: web.Application) -> None:
        """The one that was chosen last holds on every page."""

        @web.middleware
        async def remember(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = await handler(request)
            if request.query.get("language") in PHRASES:
                chosen = request.query["language"]
                answer.set_cookie(self._language_cookie, chosen, max_age=LIFETIME_S, httponly=True, samesite="Lax")
            return answer

        application.middlewares.append(remember)

    def _page(self, request: web.Request, said: Mapping[str, str]) -> Page:
        """In the language and with the way back that the visitor brought."""
        language = request.query.get("language") or request.cookies.get(self._language_cookie, "")
        gateway = self._settings.gateway
        shown = Page(language if language in PHRASES else DEFAULT_LANGUAGE, said.get("return_to") or f"{gateway}/")
        if self._origins.is_allowed_return(shown.return_to):
            return shown
        text = Page(shown.language, f"{gateway}/").error("/login", shown.phrase("foreign", gateway=gateway))
        raise web.HTTPBadRequest(text=text, content_type="text/html", headers=_HEADERS)

    def _visitor(self, request: web.Request) -> str | None:
        return self._visits.player_of(request.cookies.get(self._cookie, ""))

    @property
    def _bank(self) -> Accounts:
        if self._accounts is None:
            raise RuntimeError("The application has not started.")
        return self._accounts

    async def _connected(self, _: web.Application) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=CALL_TIMEOUT_S)
        async with aiohttp.ClientSession(self._settings.gateway, timeout=timeout) as session:
            self._accounts = Accounts(session, self._issuer)
            yield


def _html(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", headers=_HEADERS)


def _to(address: str) -> web.Response:
    return web.Response(status=303, headers={**_HEADERS, hdrs.LOCATION: address})


async def _form(request: web.Request) -> Mapping[str, str]:
    return {name: value for name, value in (await request.post()).items() if isinstance(value, str)}


def _why(shown: Page, failed: PlatformCallFailed) -> str:
    known = failed.reason in PHRASES[shown.language]
    return shown.phrase(failed.reason) if known else shown.phrase("refused", reason=failed.reason)


def _done(shown: Page, said: str) -> str:
    found = re.fullmatch(r"(deposit|withdrawal)-([0-9]{1,9})", said)
    return shown.phrase(f"{found[1]}_done", amount=euros(int(found[2]), shown.language)) if found else ""


def _cents(form: Mapping[str, str]) -> int:
    """The amount of a button, or one that was written; 0 if it is none."""
    if "amount_cents" in form:
        button = form["amount_cents"]
        return int(button) if re.fullmatch(r"[0-9]{1,9}", button) else 0
    found = _AMOUNT.fullmatch(form.get("amount", "").strip())
    return int(found[1]) * 100 + int((found[2] or "").ljust(2, "0")) if found else 0


def _command(form: Mapping[str, str]) -> uuid.UUID:
    try:
        return uuid.UUID(form.get("command", ""))
    except ValueError:
        raise web.HTTPBadRequest(text="The form has no name: load the page again.\n") from None
