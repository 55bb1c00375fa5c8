"""The built front-end: which files are served, how long browsers cache them, and what its policy lets in."""

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
def web_build(tmp_path: Path) -> Path:
    """A folder as a build makes it."""
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
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("FELTRO_"):
            monkeypatch.delenv(name)
    # Any file will do: its keys are not read here.
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", __file__)


def _settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> FrontEndSettings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load(FrontEndSettings)


@asynccontextmanager
async def _served(settings: FrontEndSettings) -> AsyncIterator[HttpClient]:
    part = FrontEnd(settings)
    application = EdgeApplication(Readiness([]), settings.environment, parts=[part], has_front_end=part.has_index)
    async with TestClient(TestServer(application.build()), auto_decompress=False) as client:
        yield client


async def test_the_page_is_revalidated_each_time_and_sent_only_when_it_changed(
    web_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build))) as client:
        answer = await client.get("/")
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-cache"
        assert "<title>Feltro</title>" in await answer.text()
        again = await client.get("/", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status, await again.read()) == (304, b"")
        assert (await client.head("/")).status == 200
        assert "<title>Feltro: what is up</title>" in await (await client.get("/status")).text()


async def test_a_file_with_a_hash_in_its_name_is_cached_for_ever(
    web_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build))) as client:
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
async def test_compressed_files_are_sent_to_clients_that_accept_them(
    web_build: Path, monkeypatch: pytest.MonkeyPatch, accepted: str, coding: str | None
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build))) as client:
        answer = await client.get("/assets/app-B3x.js", headers={"Accept-Encoding": accepted})
        assert answer.headers.get("Content-Encoding") == coding
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
        sent = await answer.read()
        assert sent == {"br": b"brotli, says the build", "gzip": gzip.compress(SCRIPT, mtime=0), None: SCRIPT}[coding]
        uncompressed = await client.get("/assets/app-B3x.css", headers={"Accept-Encoding": accepted})
        assert "Vary" not in uncompressed.headers


async def test_every_encoding_of_a_file_has_its_own_etag(web_build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build))) as client:
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
async def test_files_outside_the_build_are_not_served(
    web_build: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build))) as client:
        answer = await client.get(URL(path, encoded=True))
        assert answer.status == 404
        assert answer.content_type == "application/problem+json"


async def test_the_content_security_policy_allows_only_configured_sites(
    web_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {**SITE, "FELTRO_WEB_FRAME_ANCESTORS": "'self' https://casino.example"}
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build), **variables)) as client:
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


async def test_without_settings_the_policy_allows_no_other_site(
    web_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _served(_settings(monkeypatch, FELTRO_WEB_FOLDER=str(web_build))) as client:
        policy = (await client.get("/")).headers["Content-Security-Policy"]
        assert "connect-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy


async def test_the_front_end_reads_the_addresses_of_the_operators_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Served without a build as well: in development the front-end is served by its own tools."""
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


async def test_unset_addresses_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _served(_settings(monkeypatch, FELTRO_ENVIRONMENT="development")) as client:
        answer = await (await client.get("/front-end.json")).json()
        assert answer == {
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
def test_a_wrong_setting_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]) -> None:
    with pytest.raises(WrongSettings) as refused:
        _settings(monkeypatch, **{"FELTRO_ENVIRONMENT": "development", **wrong})
    assert str(refused.value).startswith(next(reversed(wrong)))


@pytest.mark.parametrize("address", ["http://127.0.0.1:8702/token", "http://[::1]/token", "http://localhost/token"])
def test_production_may_use_its_own_machine_without_tls(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    assert _settings(monkeypatch, FELTRO_WEB_TOKEN_URL=address).site_addresses()["token_url"] == address


def test_a_folder_without_a_front_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = _settings(monkeypatch, FELTRO_WEB_FOLDER=str(tmp_path))
    with pytest.raises(FrontEndUnusable, match="make web"):
        FrontEnd(settings)
    (tmp_path / "index.html").touch()
    with (tmp_path / "film.mp4").open("wb") as film:
        film.truncate(BYTES_LIMIT + 1)
    with pytest.raises(FrontEndUnusable, match="more than"):
        FrontEnd(settings)
