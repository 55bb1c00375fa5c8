"""The development front desk lets in whoever says a name, gives tokens to the front-end alone, and moves money once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from yarl import URL

from services.kit.access.identity import TokenVerifier
from stack.issuer import AUDIENCE, DevelopmentIssuer
from stack.operator_site.logins import LIFETIME_S, LoginCookies
from stack.operator_site.routes import OperatorSite
from stack.operator_site.settings import OperatorSiteSettings
from stack.servers import ephemeral
from stack.servers.ephemeral import free_port
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE
from tests.processes.gateway import GatewayProcess
from tests.processes.wallet import WalletProcess

DATABASE = "feltro_wallet_of_operator_site"
COMMAND = re.compile(r'name="command" value="([^"]+)"')


@dataclass
class Desk:
    """A front desk that runs, and one browser."""

    url: str
    gateway: str
    issuer: DevelopmentIssuer
    browser: aiohttp.ClientSession

    @property
    def games(self) -> str:
        """Where its visitors come from."""
        return f"{self.gateway}/#/table/french"

    async def post(self, path: str, origin: str = "", *, follow: bool = False, **form: str) -> aiohttp.ClientResponse:
        headers = {"Origin": origin or self.url}
        return await self.browser.post(path, data=form, headers=headers, allow_redirects=follow)

    async def login(self, name: str) -> None:
        answer = await self.post("/login", name=name, return_to=self.games)
        assert (answer.status, answer.headers["Location"]) == (303, self.games), await answer.text()

    async def move(self, move: str, command: str = "", **amount: str) -> aiohttp.ClientResponse:
        form = {"command": command or str(uuid4()), "return_to": self.games, **amount}
        return await self.post("/cashier?language=en", follow=True, move=move, **form)

    async def shown(self, name: str) -> int:
        """The cents that the platform says are his."""
        answer = await self.browser.get("/token")
        token = (await answer.json())["token"]
        assert (await answer.json())["player_id"] == name
        async with (
            aiohttp.ClientSession(self.gateway, headers={"Authorization": f"Bearer {token}"}) as player,
            player.get(f"/v1/players/{name}/accounts/MODE_REAL") as found,
        ):
            return int((await found.json())["balance"]["free_cents"])


@pytest.fixture(scope="module")
def gateway(
    postgres: EmbeddedPostgres, wallet_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    """A gateway and a wallet."""
    home = tmp_path_factory.mktemp("issuer")
    postgres.ensure_database(DATABASE, OWNER_ROLE, WALLET_ROLE, template=wallet_template)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_ROLE, DATABASE), bus.url, home)
        running = GatewayProcess("", bus.url, home, wallet_address=wallet.address)
        try:
            for process in (wallet, running):
                process.start()
                asyncio.run(process.ready())
            yield running
        finally:
            running.kill()
            wallet.kill()
    postgres.drop_database(DATABASE)


@pytest.fixture
async def desk(gateway: GatewayProcess) -> AsyncIterator[Desk]:
    """A front desk before it."""
    async for made in _desk(gateway.url, gateway.home):
        yield made


async def _desk(gateway: str, home: Path) -> AsyncIterator[Desk]:
    port = free_port()
    settings = OperatorSiteSettings(listen=f"127.0.0.1:{port}", gateway=gateway, issuer=home)
    cookies = aiohttp.CookieJar(unsafe=True)
    async with (
        TestServer(OperatorSite(settings).application(), port=port),
        aiohttp.ClientSession(settings.origin, cookie_jar=cookies) as browser,
    ):
        yield Desk(settings.origin, gateway, DevelopmentIssuer(home), browser)


async def test_whoever_says_a_name_is_let_in_with_money_the_first_time(desk: Desk) -> None:
    page = await (await desk.browser.get("/login", params={"return_to": desk.games})).text()
    assert '<html lang="pt">' in page
    assert "não há palavra-passe" in page
    answer = await desk.post("/login", name="ana", return_to=desk.games)
    assert (answer.status, answer.headers["Location"]) == (303, desk.games)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert await desk.shown("ana") == 10000
    await desk.login("ana")
    assert await desk.shown("ana") == 10000


async def test_the_token_is_one_that_the_platform_believes_for_a_quarter_of_an_hour(desk: Desk) -> None:
    await desk.login("bea")
    asked_at = time.time()
    said = await (await desk.browser.get("/token", headers={"Origin": desk.gateway})).json()
    answered_at = time.time()
    caller = TokenVerifier(desk.issuer.jwks, AUDIENCE).verify(said["token"])
    assert (caller.subject, caller.scopes) == ("bea", frozenset({"player"}))
    assert datetime.fromisoformat(said["expires_at"]).timestamp() == caller.expires_at
    assert asked_at - 1 <= caller.expires_at - 900 <= answered_at


async def test_only_the_front_end_s_scripts_read_a_token(desk: Desk) -> None:
    await desk.login("bea")
    answer = await desk.browser.get("/token", headers={"Origin": desk.gateway})
    assert answer.headers["Access-Control-Allow-Origin"] == desk.gateway
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Cache-Control"] == "no-store"
    asked = await desk.browser.options("/token", headers={"Origin": desk.gateway})
    assert (asked.status, asked.headers["Access-Control-Allow-Origin"]) == (204, desk.gateway)
    for origin in ("https://other.example", f"{desk.gateway}0", "null", desk.url):
        answer = await desk.browser.get("/token", headers={"Origin": origin})
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Origin" in answer.headers["Vary"]
    login = await desk.browser.get("/login", headers={"Origin": desk.gateway})
    assert "Access-Control-Allow-Origin" not in login.headers


async def test_who_has_not_logged_in_gets_no_token(desk: Desk) -> None:
    assert (await desk.browser.get("/token", headers={"Origin": desk.gateway})).status == 401
    await desk.login("bea")
    (cookie,) = desk.browser.cookie_jar
    forged = str(cookie.value).replace("bea", "ana")
    desk.browser.cookie_jar.update_cookies({cookie.key: forged}, URL(desk.url))
    assert (await desk.browser.get("/token")).status == 401


async def test_after_logging_out_there_is_no_token(desk: Desk) -> None:
    await desk.login("bea")
    assert (await desk.post("/logout", origin="https://other.example")).status == 403
    assert (await desk.browser.get("/token")).status == 200
    answer = await desk.post("/logout", origin=desk.gateway)
    assert (answer.status, answer.headers["Access-Control-Allow-Credentials"]) == (204, "true")
    assert (await desk.browser.get("/token")).status == 401


@pytest.mark.parametrize(
    "return_to",
    [
        "https://other.example/",
        "//other.example/",
        "/relative",
        "javascript:alert(1)",
        "GATEWAY@other.example/",
        "GATEWAY.other.example/",
        "GATEWAY\\@other.example/",
        " GATEWAY/",
        "GATEWAY/\r\nSet-Cookie: a=b",
    ],
)
async def test_nobody_is_sent_anywhere_but_back_to_the_games(desk: Desk, return_to: str) -> None:
    foreign = return_to.replace("GATEWAY", desk.gateway)
    for answer in (
        await desk.browser.get("/login", params={"return_to": foreign}),
        await desk.post("/login", name="ana", return_to=foreign),
        await desk.browser.get("/cashier", params={"return_to": foreign}),
    ):
        assert answer.status == 400
        assert "Location" not in answer.headers
        assert f"{desk.gateway}" in await answer.text()
    assert len(desk.browser.cookie_jar) == 0


async def test_who_brings_no_way_back_is_sent_to_the_games(desk: Desk) -> None:
    answer = await desk.post("/login", name="ana")
    assert answer.headers["Location"] == f"{desk.gateway}/"
    assert (await desk.browser.get("/", allow_redirects=False)).headers["Location"] == f"{desk.gateway}/"


@pytest.mark.parametrize("name", ["", "x" * 33, "João", "demo-ana", "a b", "a.b", "<b>"])
async def test_a_name_that_no_player_may_have_is_refused(desk: Desk, name: str) -> None:
    answer = await desk.post("/login?language=en", name=name, return_to=desk.games)
    assert answer.status == 422
    assert "No such name" in await answer.text()
    assert (await desk.browser.get("/token")).status == 401


async def test_a_form_of_another_site_is_refused(desk: Desk) -> None:
    await desk.login("bea")
    for path in ("/login", "/cashier"):
        for origin in ("https://other.example", desk.gateway, "null"):
            assert (await desk.post(path, origin=origin, name="ana")).status == 403


async def test_the_cashier_asks_who_it_is_and_goes_on_from_there(desk: Desk) -> None:
    asked = await desk.browser.get("/cashier", params={"return_to": desk.games, "language": "en"})
    assert asked.url.path == "/login"
    back = asked.url.query["return_to"]
    assert URL(back).query["return_to"] == desk.games
    answer = await desk.post("/login", follow=True, name="carla", return_to=back)
    shown = await answer.text()
    assert answer.url.path == "/cashier"
    assert "Player: carla" in shown
    assert "€100.00" in shown
    assert f'href="{desk.games}"' in shown


async def test_money_goes_in_and_out_once_for_each_form(desk: Desk) -> None:
    await desk.login("dora")
    page = await (await desk.browser.get("/cashier")).text()
    command = COMMAND.findall(page)[0]
    for _ in range(2):
        answer = await desk.move("deposit", command, amount_cents="5000")
        assert (answer.status, answer.method) == (200, "GET")
        assert "You deposited €50.00." in await answer.text()
    assert await desk.shown("dora") == 15000
    command = str(uuid4())
    for _ in range(2):
        assert "You withdrew €12.50." in await (await desk.move("withdrawal", command, amount="12,50")).text()
    assert await desk.shown("dora") == 13750
    assert COMMAND.findall(page)[0] != COMMAND.findall(await (await desk.browser.get("/cashier")).text())[0]


async def test_more_than_there_is_cannot_be_withdrawn(desk: Desk) -> None:
    await desk.login("eva")
    answer = await desk.move("withdrawal", amount="100.01")
    assert answer.status == 409
    assert "not so much money" in await answer.text()
    assert await desk.shown("eva") == 10000


@pytest.mark.parametrize("amount", ["", "0", "-1", "1e3", "1.005", "1 000", "12345678", "٣"])
async def test_an_amount_that_is_none_is_refused(desk: Desk, amount: str) -> None:
    await desk.login("eva")
    for move in ("deposit", "withdrawal"):
        answer = await desk.move(move, amount=amount)
        assert answer.status == 422
        assert "Write the amount" in await answer.text()
    assert await desk.shown("eva") == 10000


async def test_both_languages_say_everything_and_nothing_sent_becomes_markup(desk: Desk) -> None:
    await desk.login("eva")
    inside = f'{desk.gateway}/#/"><b>bold</b>'
    for path in ("/login", "/cashier"):
        for language, other in (("pt", "en"), ("en", "pt")):
            answer = await desk.browser.get(path, params={"return_to": inside, "language": language})
            page = await answer.text()
            assert f'<html lang="{language}">' in page
            assert f"language={other}" in page
            assert "<b>bold" not in page
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    for file in ("/pages.css", "/site.css"):
        assert (await desk.browser.get(file)).content_type == "text/css"


async def test_a_platform_that_does_not_answer_is_said(tmp_path: Path) -> None:
    async for desk in _desk(f"http://127.0.0.1:{free_port()}", tmp_path):
        answer = await desk.post("/login?language=en", name="ana")
        assert answer.status == 503
        assert "does not answer just now" in await answer.text()
        assert (await desk.browser.get("/token")).status == 401


def test_a_visit_ends_by_itself() -> None:
    now = 1_000_000.0
    visits = LoginCookies(b"secret", lambda: now)
    cookie = visits.issue("ana")
    assert LoginCookies(b"secret", lambda: now + LIFETIME_S - 1).player_of(cookie) == "ana"
    assert LoginCookies(b"secret", lambda: now + LIFETIME_S).player_of(cookie) is None
    assert LoginCookies(b"another", lambda: now).player_of(cookie) is None
    for broken in ("", ".", "ana", "ana.1", cookie[:-1], f"x{cookie}"):
        assert visits.player_of(broken) is None
