"""The site's routes: login and cashier for people, token and logout for the front-end."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from importlib import resources

import aiohttp
import jwt
from aiohttp import hdrs, web

from gateway.http.documents import Document, page_document
from gateway.http.security_headers import PAGE_HEADERS
from stack.issuer import DevelopmentIssuer
from stack.operator_site.accounts import CALL_TIMEOUT_S, Accounts, PlatformCallFailed
from stack.operator_site.logins import LIFETIME_S, LoginCookies, is_valid_name
from stack.operator_site.origins import AllowedOrigins, Handler
from stack.operator_site.pages import Page
from stack.operator_site.phrases import DEFAULT_LANGUAGE, PHRASES, euros
from stack.operator_site.settings import OperatorSiteSettings

TOKEN_MINUTES = 15
BODY_BYTES_LIMIT = 4096
# Without a referrer a browser sends no origin with a form either, and the origin is checked.
_HEADERS = {**PAGE_HEADERS, "Referrer-Policy": "same-origin"}
_AMOUNT = re.compile(r"([0-9]{1,7})(?:[.,]([0-9]{1,2}))?")


class OperatorSite:
    """The site; it stores nothing."""

    def __init__(self, settings: OperatorSiteSettings) -> None:
        self._settings = settings
        self._issuer = DevelopmentIssuer(settings.issuer)
        self._logins = LoginCookies(self._issuer.secret())
        # A cookie is sent to every port of an address: the name keeps two platforms on one machine apart.
        self._cookie = f"feltro_operator_site_{settings.listen.rpartition(':')[2]}"
        self._language_cookie = f"{self._cookie}_language"
        self._origins = AllowedOrigins(
            settings.origin, settings.gateway, cross_origin_paths=frozenset({"/token", "/logout"})
        )
        self._accounts: Accounts | None = None

    def application(self) -> web.Application:
        """The application with all routes."""
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
        """Sends the browser to the games."""
        return _redirect(f"{self._settings.gateway}/")

    async def health(self, _: web.Request) -> web.Response:
        """Answers while the process serves."""
        return web.Response(text="alive\n", headers=_HEADERS)

    async def login_page(self, request: web.Request) -> web.Response:
        """Shows the login form."""
        return _html(self._page(request, request.query).login())

    async def login(self, request: web.Request) -> web.Response:
        """Logs in under any name; the first time there is money in the account."""
        form = await _form(request)
        page = self._page(request, form)
        name = form.get("name", "").strip()
        if not is_valid_name(name):
            return _html(page.login(page.phrase("name_wrong")), status=422)
        try:
            await self._connected_accounts.open_account(name)
        except PlatformCallFailed as failed:
            return _html(page.login(_refusal_sentence(page, failed)), status=failed.http_status)
        answer = _redirect(page.return_to)
        answer.set_cookie(self._cookie, self._logins.issue(name), max_age=LIFETIME_S, httponly=True, samesite="Lax")
        return answer

    async def token(self, request: web.Request) -> web.Response:
        """Gives the front-end a token of the player who has logged in; without a login there is no content."""
        name = self._player(request)
        if name is None:
            # The front-end asks for guests too: a browser would show each of them a refusal as an error.
            return web.Response(status=204, headers=_HEADERS)
        token = self._issuer.token(["player"], name, TOKEN_MINUTES)
        until = datetime.fromtimestamp(jwt.decode(token, options={"verify_signature": False})["exp"], UTC)
        content = {"token": token, "expires_at": f"{until:%Y-%m-%dT%H:%M:%SZ}", "player_id": name}
        return web.json_response(content, headers=_HEADERS)

    async def logout(self, _: web.Request) -> web.Response:
        """Logs out, for the front-end."""
        answer = web.Response(status=204, headers=_HEADERS)
        answer.del_cookie(self._cookie, httponly=True, samesite="Lax")
        return answer

    async def cashier_page(self, request: web.Request) -> web.Response:
        """Shows the cashier, after a login."""
        page = self._page(request, request.query)
        name = self._player(request)
        if name is None:
            return self._login_first(page)
        return await self._cashier_of(name, page, done=_done(page, request.query.get("done", "")))

    async def cashier(self, request: web.Request) -> web.Response:
        """Moves money in or out; a form that is sent twice acts once."""
        form = await _form(request)
        page = self._page(request, form)
        name = self._player(request)
        if name is None:
            return self._login_first(page)
        cents, move = _cents(form), form.get("move", "")
        if not cents or move not in {"deposit", "withdrawal"}:
            return await self._cashier_of(name, page, page.phrase("amount_wrong"), status=422)
        act = self._connected_accounts.deposit if move == "deposit" else self._connected_accounts.withdraw
        try:
            await act(name, cents, f"site-{move}-{cents}-{_command(form)}")
        except PlatformCallFailed as failed:
            return await self._cashier_of(name, page, _refusal_sentence(page, failed), status=failed.http_status)
        return _redirect(page.address("/cashier", done=f"{move}-{cents}"))

    async def _cashier_of(
        self, name: str, page: Page, problem: str = "", done: str = "", status: int = 200
    ) -> web.Response:
        try:
            balance = await self._connected_accounts.balance(name)
        except PlatformCallFailed as failed:
            return _html(page.error("/cashier", _refusal_sentence(page, failed)), status=failed.http_status)
        return _html(page.cashier(name, balance, problem, done), status=status)

    def _login_first(self, page: Page) -> web.Response:
        back = self._settings.origin + page.address("/cashier")
        return _redirect(Page(page.language, back).address("/login"))

    def _remember_languages(self, application: web.Application) -> None:
        """Keeps the language that was chosen last, on every page."""

        @web.middleware
        async def remember(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = await handler(request)
            if request.query.get("language") in PHRASES:
                chosen = request.query["language"]
                answer.set_cookie(self._language_cookie, chosen, max_age=LIFETIME_S, httponly=True, samesite="Lax")
            return answer

        application.middlewares.append(remember)

    def _page(self, request: web.Request, parameters: Mapping[str, str]) -> Page:
        """The page in the language and with the return address of the request."""
        language = request.query.get("language") or request.cookies.get(self._language_cookie, "")
        gateway = self._settings.gateway
        page = Page(language if language in PHRASES else DEFAULT_LANGUAGE, parameters.get("return_to") or f"{gateway}/")
        if self._origins.is_allowed_return(page.return_to):
            return page
        text = Page(page.language, f"{gateway}/").error("/login", page.phrase("foreign", gateway=gateway))
        raise web.HTTPBadRequest(text=text, content_type="text/html", headers=_HEADERS)

    def _player(self, request: web.Request) -> str | None:
        return self._logins.player_of(request.cookies.get(self._cookie, ""))

    @property
    def _connected_accounts(self) -> Accounts:
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


def _redirect(address: str) -> web.Response:
    return web.Response(status=303, headers={**_HEADERS, hdrs.LOCATION: address})


async def _form(request: web.Request) -> Mapping[str, str]:
    return {name: value for name, value in (await request.post()).items() if isinstance(value, str)}


def _refusal_sentence(page: Page, failed: PlatformCallFailed) -> str:
    known = failed.reason in PHRASES[page.language]
    return page.phrase(failed.reason) if known else page.phrase("refused", reason=failed.reason)


def _done(page: Page, done: str) -> str:
    found = re.fullmatch(r"(deposit|withdrawal)-([0-9]{1,9})", done)
    return page.phrase(f"{found[1]}_done", amount=euros(int(found[2]), page.language)) if found else ""


def _cents(form: Mapping[str, str]) -> int:
    """The amount of a button or of the field; 0 if it is invalid."""
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
