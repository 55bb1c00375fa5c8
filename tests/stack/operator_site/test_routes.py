"""The operator site lets a player in under any name, gives tokens to the front-end alone, and moves money once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
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
class SiteBrowser:
    """A browser at a running site."""

    url: str
    gateway: str
    issuer: DevelopmentIssuer
    session: aiohttp.ClientSession

    @property
    def games(self) -> str:
        """The page that the player comes from."""
        return f"{self.gateway}/#/table/french"

    async def post(self, path: str, origin: str = "", *, follow: bool = False, **form: str) -> aiohttp.ClientResponse:
        headers = {"Origin": origin or self.url}
        return await self.session.post(path, data=form, headers=headers, allow_redirects=follow)

    async def login(self, name: str) -> None:
        answer = await self.post("/login", name=name, return_to=self.games)
        assert (answer.status, answer.headers["Location"]) == (303, self.games), await answer.text()

    async def move(self, move: str, command: str = "", **amount: str) -> aiohttp.ClientResponse:
        form = {"command": command or str(uuid4()), "return_to": self.games, **amount}
        return await self.post("/cashier?language=en", follow=True, move=move, **form)

    async def balance(self, name: str) -> int:
        """The cents that the platform shows for the player."""
        answer = await self.session.get("/token")
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
async def site(gateway: GatewayProcess) -> AsyncIterator[SiteBrowser]:
    """A browser at a site in front of the gateway."""
    async with running_site(gateway.url, gateway.home) as browser:
        yield browser


@asynccontextmanager
async def running_site(gateway: str, home: Path) -> AsyncIterator[SiteBrowser]:
    port = free_port()
    settings = OperatorSiteSettings(listen=f"127.0.0.1:{port}", gateway=gateway, issuer=home)
    cookies = aiohttp.CookieJar(unsafe=True)
    async with (
        TestServer(OperatorSite(settings).application(), port=port),
        aiohttp.ClientSession(settings.origin, cookie_jar=cookies) as session,
    ):
        yield SiteBrowser(settings.origin, gateway, DevelopmentIssuer(home), session)


async def test_any_name_logs_in_and_finds_money_the_first_time(site: SiteBrowser) -> None:
    page = await (await site.session.get("/login", params={"return_to": site.games})).text()
    assert '<html lang="pt">' in page
    assert "não há palavra-passe" in page
    answer = await site.post("/login", name="ana", return_to=site.games)
    assert (answer.status, answer.headers["Location"]) == (303, site.games)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert await site.balance("ana") == 10000
    await site.login("ana")
    assert await site.balance("ana") == 10000


async def test_the_platform_accepts_the_token_for_a_quarter_of_an_hour(site: SiteBrowser) -> None:
    await site.login("bea")
    asked_at = time.time()
    content = await (await site.session.get("/token", headers={"Origin": site.gateway})).json()
    answered_at = time.time()
    caller = TokenVerifier(site.issuer.jwks, AUDIENCE).verify(content["token"])
    assert (caller.subject, caller.scopes) == ("bea", frozenset({"player"}))
    assert datetime.fromisoformat(content["expires_at"]).timestamp() == caller.expires_at
    assert asked_at - 1 <= caller.expires_at - 900 <= answered_at


async def test_only_scripts_of_the_front_end_read_a_token(site: SiteBrowser) -> None:
    await site.login("bea")
    answer = await site.session.get("/token", headers={"Origin": site.gateway})
    assert answer.headers["Access-Control-Allow-Origin"] == site.gateway
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Cache-Control"] == "no-store"
    asked = await site.session.options("/token", headers={"Origin": site.gateway})
    assert (asked.status, asked.headers["Access-Control-Allow-Origin"]) == (204, site.gateway)
    for origin in ("https://other.example", f"{site.gateway}0", "null", site.url):
        answer = await site.session.get("/token", headers={"Origin": origin})
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Origin" in answer.headers["Vary"]
    login = await site.session.get("/login", headers={"Origin": site.gateway})
    assert "Access-Control-Allow-Origin" not in login.headers


async def test_there_is_no_token_without_a_login_or_with_a_forged_one(site: SiteBrowser) -> None:
    assert (await site.session.get("/token", headers={"Origin": site.gateway})).status == 204
    await site.login("bea")
    (cookie,) = site.session.cookie_jar
    forged = str(cookie.value).replace("bea", "ana")
    site.session.cookie_jar.update_cookies({cookie.key: forged}, URL(site.url))
    assert (await site.session.get("/token")).status == 204


async def test_there_is_no_token_after_logging_out(site: SiteBrowser) -> None:
    await site.login("bea")
    assert (await site.post("/logout", origin="https://other.example")).status == 403
    assert (await site.session.get("/token")).status == 200
    answer = await site.post("/logout", origin=site.gateway)
    assert (answer.status, answer.headers["Access-Control-Allow-Credentials"]) == (204, "true")
    assert (await site.session.get("/token")).status == 204


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
async def test_a_return_address_outside_the_games_is_refused(site: SiteBrowser, return_to: str) -> None:
    foreign = return_to.replace("GATEWAY", site.gateway)
    for answer in (
        await site.session.get("/login", params={"return_to": foreign}),
        await site.post("/login", name="ana", return_to=foreign),
        await site.session.get("/cashier", params={"return_to": foreign}),
    ):
        assert answer.status == 400
        assert "Location" not in answer.headers
        assert f"{site.gateway}" in await answer.text()
    assert len(site.session.cookie_jar) == 0


async def test_without_a_return_address_the_browser_goes_to_the_games(site: SiteBrowser) -> None:
    answer = await site.post("/login", name="ana")
    assert answer.headers["Location"] == f"{site.gateway}/"
    assert (await site.session.get("/", allow_redirects=False)).headers["Location"] == f"{site.gateway}/"


@pytest.mark.parametrize("name", ["", "x" * 33, "João", "demo-ana", "a b", "a.b", "<b>"])
async def test_an_invalid_name_is_refused(site: SiteBrowser, name: str) -> None:
    answer = await site.post("/login?language=en", name=name, return_to=site.games)
    assert answer.status == 422
    assert "No such name" in await answer.text()
    assert (await site.session.get("/token")).status == 204


async def test_a_form_of_another_site_is_refused(site: SiteBrowser) -> None:
    await site.login("bea")
    for path in ("/login", "/cashier"):
        for origin in ("https://other.example", site.gateway, "null"):
            assert (await site.post(path, origin=origin, name="ana")).status == 403


async def test_the_cashier_asks_for_a_login_and_continues_after_it(site: SiteBrowser) -> None:
    asked = await site.session.get("/cashier", params={"return_to": site.games, "language": "en"})
    assert asked.url.path == "/login"
    back = asked.url.query["return_to"]
    assert URL(back).query["return_to"] == site.games
    answer = await site.post("/login", follow=True, name="carla", return_to=back)
    shown = await answer.text()
    assert answer.url.path == "/cashier"
    assert "Player: carla" in shown
    assert "€100.00" in shown
    assert f'href="{site.games}"' in shown


async def test_each_form_moves_money_once(site: SiteBrowser) -> None:
    await site.login("dora")
    page = await (await site.session.get("/cashier")).text()
    command = COMMAND.findall(page)[0]
    for _ in range(2):
        answer = await site.move("deposit", command, amount_cents="5000")
        assert (answer.status, answer.method) == (200, "GET")
        assert "You deposited €50.00." in await answer.text()
    assert await site.balance("dora") == 15000
    command = str(uuid4())
    for _ in range(2):
        assert "You withdrew €12.50." in await (await site.move("withdrawal", command, amount="12,50")).text()
    assert await site.balance("dora") == 13750
    assert COMMAND.findall(page)[0] != COMMAND.findall(await (await site.session.get("/cashier")).text())[0]


async def test_more_than_the_free_balance_cannot_be_withdrawn(site: SiteBrowser) -> None:
    await site.login("eva")
    answer = await site.move("withdrawal", amount="100.01")
    assert answer.status == 409
    assert "not so much money" in await answer.text()
    assert await site.balance("eva") == 10000


@pytest.mark.parametrize("amount", ["", "0", "-1", "1e3", "1.005", "1 000", "12345678", "٣"])
async def test_an_invalid_amount_is_refused(site: SiteBrowser, amount: str) -> None:
    await site.login("eva")
    for move in ("deposit", "withdrawal"):
        answer = await site.move(move, amount=amount)
        assert answer.status == 422
        assert "Write the amount" in await answer.text()
    assert await site.balance("eva") == 10000


async def test_pages_exist_in_both_languages_and_escape_what_was_sent(site: SiteBrowser) -> None:
    await site.login("eva")
    inside = f'{site.gateway}/#/"><b>bold</b>'
    for path in ("/login", "/cashier"):
        for language, other in (("pt", "en"), ("en", "pt")):
            answer = await site.session.get(path, params={"return_to": inside, "language": language})
            page = await answer.text()
            assert f'<html lang="{language}">' in page
            assert f"language={other}" in page
            assert "<b>bold" not in page
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    for file in ("/pages.css", "/site.css"):
        assert (await site.session.get(file)).content_type == "text/css"


async def test_a_platform_that_does_not_answer_is_reported(tmp_path: Path) -> None:
    DevelopmentIssuer(tmp_path).prepare()
    async with running_site(f"http://127.0.0.1:{free_port()}", tmp_path) as site:
        answer = await site.post("/login?language=en", name="ana")
        assert answer.status == 503
        assert "does not answer just now" in await answer.text()
        assert (await site.session.get("/token")).status == 204


def test_a_login_expires() -> None:
    now = 1_000_000.0
    logins = LoginCookies(b"secret", lambda: now)
    cookie = logins.issue("ana")
    assert LoginCookies(b"secret", lambda: now + LIFETIME_S - 1).player_of(cookie) == "ana"
    assert LoginCookies(b"secret", lambda: now + LIFETIME_S).player_of(cookie) is None
    assert LoginCookies(b"another", lambda: now).player_of(cookie) is None
    for broken in ("", ".", "ana", "ana.1", cookie[:-1], f"x{cookie}"):
        assert logins.player_of(broken) is None
