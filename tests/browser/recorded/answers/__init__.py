"""The recorded answers, one file per table and one for the lobby.

`python -m tests.browser.recorded.record` makes them.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.browser.driver.rest import Json

FOLDER = Path(__file__).parent
# A table for one of each wheel, and one at which cards are dealt.
TABLES = ("french-solo-demo", "american-solo-demo", "american-00-solo-demo", "baccarat-solo-demo")
# The files, and what each of them holds: the answers by their methods.
LOBBY = "lobby"


def read(name: str) -> Json:
    """One file: the answers of the platform by the names of the methods."""
    found: Json = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def write(name: str, answers: Json) -> None:
    """Replaces one file."""
    lines = (f'"{method}": {json.dumps(answer, ensure_ascii=False)}' for method, answer in answers.items())
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
