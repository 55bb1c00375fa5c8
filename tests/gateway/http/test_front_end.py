"""The built front-end is served as it was built, kept for as long as it may be, and lets nothing else in."""

from __future__ import annotations

import gzip
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from gateway.backends.readiness import Readiness
from gateway.http.application import EdgeApplication
from gateway.http.front_end import BYTES_LIMIT, FrontEnd, FrontEndUnusable
from gateway.http.front_end_settings import FrontEndSettings
from services.kit.settings import WrongSettings, load
from tests.gateway.http_gateway import HttpClient

SCRIPT = b"console.log('felt');" * 50
SITE = {
    "FELTRO_WEB_LOGIN_URL": "https://casino.example/login",
    "FELTRO_WEB_TOKEN_URL": "https://accounts.casino.example:8443/feltro/token?site=pt",
    "FELTRO_WEB_LOGOUT_URL": "https://casino.example/logout",
    "FELTRO_WEB_CASHIER_URL": "https://cashier.example/",
}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """What a build makes."""
    folder = tmp_path / "web"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Feltro</title>")
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "data.json").write_text("{}")
    (folder / ".secret").write_text("secret")
    (folder / "assets" / "app-B3x.js").write_bytes(SCRIPT)
    (folder / "assets" / "app-B3x.js.br").write_bytes(b"brotli, says the build")
    (folder / "assets" / "app-B3x.js.gz").write_bytes(gzip.compress(SCRIPT, mtime=0))
    (folder / "assets" / "app-B3x.css").write_text(":root {}")
    (tmp_path / "outside.txt").write_text("outside")
    (folder / "linked.txt").symlink_to(tmp_path / "outside.txt")
    return folder


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("FELTRO_"):
            monkeypatch.delenv(name)
    # Any file that is there will do: the keys in it are not looked at here.
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", __file__)


def _settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> FrontEndSettings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load(FrontEndSettings)


@asynccontextmanager
async def _served(settings: FrontEndSettings) -> AsyncIterator[HttpClient]:
    part = FrontEnd(settings)
    edge = EdgeApplication(Readiness([]), settings.environment, parts=[part], has_front_end=part.has_index)
    async with TestClient(TestServer(edge.build()), auto_decompress=False) as client:
        yield client


async def test_the_page_is_asked_for_each_time_and_sent_only_when_it_changed(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built))) as client:
        answer = await client.get("/")
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-cache"
        assert "<title>Feltro</title>" in await answer.text()
        again = await client.get("/", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status, await again.read()) == (304, b"")
        assert (await client.head("/")).status == 200
        assert "<title>Feltro: what is up</title>" in await (await client.get("/status")).text()


async def test_a_file_with_a_hash_in_its_name_is_kept_for_ever(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built))) as client:
        for path, content_type in (
            ("/assets/app-B3x.js", "text/javascript; charset=utf-8"),
            ("/assets/app-B3x.css", "text/css; charset=utf-8"),
        ):
            answer = await client.get(path)
            assert answer.headers["Content-Type"] == content_type
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        icon = await client.get("/favicon.svg")
        assert icon.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
        assert icon.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("br; q=0.000, GZIP", "gzip"),
        ("deflate", None),
        ("", None),
    ],
)
async def test_what_was_compressed_is_sent_to_those_who_can_read_it(
    built: Path, monkeypatch: pytest.MonkeyPatch, accepted: str, coding: str | None
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built))) as client:
        answer = await client.get("/assets/app-B3x.js", headers={"Accept-Encoding": accepted})
        assert answer.headers.get("Content-Encoding") == coding
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
        sent = await answer.read()
        assert sent == {"br": b"brotli, says the build", "gzip": gzip.compress(SCRIPT, mtime=0), None: SCRIPT}[coding]
        alone = await client.get("/assets/app-B3x.css", headers={"Accept-Encoding": accepted})
        assert "Vary" not in alone.headers


async def test_each_form_of_a_file_has_a_tag_of_its_own(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built))) as client:
        tags = {
            (await client.get("/assets/app-B3x.js", headers={"Accept-Encoding": coding})).headers["ETag"]
            for coding in ("br", "gzip", "identity")
        }
        assert len(tags) == 3


@pytest.mark.parametrize(
    "path",
    [
        "/../outside.txt",
        "/%2e%2e/outside.txt",
        "/assets/../../outside.txt",
        "/assets/..%2f..%2foutside.txt",
        "/linked.txt",
        "/.secret",
        "/assets",
        "/assets/",
        "/assets/app-B3x.js.gz",
        "/table/french",
    ],
)
async def test_nothing_else_is_served(built: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built))) as client:
        answer = await client.get(URL(path, encoded=True))
        assert answer.status == 404
        assert answer.content_type == "application/problem+json"


async def test_a_browser_is_told_to_let_nothing_foreign_in(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {**SITE, "FELTRO_WEB_FRAME_ANCESTORS": "'self' https://casino.example"}
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built), **variables)) as client:
        for path in ("/", "/assets/app-B3x.js"):
            headers = (await client.get(path)).headers
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            rules = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
            assert rules["default-src"] == rules["style-src"] == "'self'"
            assert "unsafe" not in headers["Content-Security-Policy"]
            assert "script-src" not in rules
            assert rules["img-src"] == "'self' data:"
            assert rules["connect-src"] == "'self' https://accounts.casino.example:8443 https://casino.example"
            assert rules["frame-ancestors"] == "'self' https://casino.example"


async def test_without_settings_nobody_may_frame_it_and_nobody_else_is_asked(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(built))) as client:
        policy = (await client.get("/")).headers["Content-Security-Policy"]
        assert "connect-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy


async def test_the_front_end_is_told_of_the_operators_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder too: a front-end that is being written is served by its own tools."""
    async with _served(_settings(monkeypatch, **SITE)) as client:
        answer = await client.get("/front-end.json")
        assert answer.headers["Cache-Control"] == "no-cache"
        assert await answer.json() == {
            "environment": "production",
            "login_url": SITE["FELTRO_WEB_LOGIN_URL"],
            "token_url": SITE["FELTRO_WEB_TOKEN_URL"],
            "logout_url": SITE["FELTRO_WEB_LOGOUT_URL"],
            "cashier_url": SITE["FELTRO_WEB_CASHIER_URL"],
        }
        assert "what is up" in await (await client.get("/")).text()


async def test_what_is_not_set_is_told_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _served(_settings(monkeypatch, FELTRO_ENVIRONMENT="development")) as client:
        told = await (await client.get("/front-end.json")).json()
        assert told == {
            "environment": "development",
            "login_url": "",
            "token_url": "",
            "logout_url": "",
            "cashier_url": "",
        }


@pytest.mark.parametrize(
    "wrong",
    [
        {"FELTRO_WEB_LOGIN_URL": "casino.example/login"},
        {"FELTRO_WEB_LOGIN_URL": "javascript:alert(1)"},
        {"FELTRO_WEB_TOKEN_URL": "https://casino.example; script-src *"},
        {"FELTRO_WEB_TOKEN_URL": "https://name:word@casino.example/token"},
        {"FELTRO_WEB_LOGOUT_URL": "https:///logout"},
        {"FELTRO_WEB_CASHIER_URL": "https://casino.example/#cashier"},
        {"FELTRO_WEB_FRAME_ANCESTORS": "*"},
        {"FELTRO_WEB_FRAME_ANCESTORS": "https://casino.example/lobby"},
        {"FELTRO_WEB_FRAME_ANCESTORS": "https://casino.example; script-src *"},
        {"FELTRO_WEB_FRAME_ANCESTORS": " "},
        {"FELTRO_WEB_FOLDER": "/nowhere/at/all"},
        {"FELTRO_ENVIRONMENT": "production", "FELTRO_WEB_TOKEN_URL": "http://casino.example/token"},
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]) -> None:
    with pytest.raises(WrongSettings) as refused:
        _settings(monkeypatch, **{"FELTRO_ENVIRONMENT": "development", **wrong})
    assert str(refused.value).startswith(next(reversed(wrong)))


@pytest.mark.parametrize("address", ["http://127.0.0.1:8702/token", "http://[::1]/token", "http://localhost/token"])
def test_production_asks_its_own_machine_without_tls(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    assert _settings(monkeypatch, FELTRO_WEB_TOKEN_URL=address).site_addresses()["token_url"] == address


def test_a_folder_that_is_no_front_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = _settings(monkeypatch, FELTRO_WEB_FOLDER=str(tmp_path))
    with pytest.raises(FrontEndUnusable, match="make web"):
        FrontEnd(settings)
    (tmp_path / "index.html").touch()
    with (tmp_path / "film.mp4").open("wb") as film:
        film.truncate(BYTES_LIMIT + 1)
    with pytest.raises(FrontEndUnusable, match="more than"):
        FrontEnd(settings)
