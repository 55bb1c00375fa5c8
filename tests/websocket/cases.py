"""Loads the cases of the Autobahn testsuite from its own package, and adapts them to this Python.

The package is for Python 2, which systems no longer have. Its cases are small: what they send, and what they expect.
The little in them that is Python 2 is replaced while they are read; their byte strings become texts of the characters
0 to 255. They control the client of `fuzzer.py`.
"""

from __future__ import annotations

import binascii
import builtins
import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol
from zipfile import ZipFile

# 9 measures speed with messages of up to 16 MB, which are refused; 12 and 13 test compression, which is off.
GROUPS = (1, 2, 3, 4, 5, 6, 7, 10)
_FOLDER = "autobahntestsuite/case/"
_NAME = re.compile(r"Case(\d+)_(\d+)(?:_(\d+))?")
_PYTHON_3 = (
    (re.compile(r"^(\s*)print (.+)$", re.MULTILINE), r"\1print(\2)"),
    (re.compile(r" / "), " // "),
    (re.compile(r"\(object, Case, \)"), "(Case, )"),
)


class Case(Protocol):
    """The attributes of a case that are used here."""

    behavior: str
    behaviorClose: str  # noqa: N815 - the testsuite's name
    result: str
    resultClose: str  # noqa: N815

    def onOpen(self) -> None: ...  # noqa: N802

    def onMessage(self, msg: str, binary: bool) -> None: ...  # noqa: N802, FBT001

    def onPing(self, payload: str) -> None: ...  # noqa: N802

    def onPong(self, payload: str) -> None: ...  # noqa: N802

    def onConnectionLost(self, failedByMe: bool) -> None: ...  # noqa: N802, N803, FBT001


class State:
    """The states of a connection, by the names that the cases use."""

    STATE_CLOSED, STATE_CONNECTING, STATE_CLOSING, STATE_OPEN = range(4)


class Utf8Validator:
    """Validates UTF-8 step by step, with the interface that the cases use."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def validate(self, text: str) -> tuple[bool, bool]:
        """Returns whether the text is valid so far, and whether it ends with a whole character."""
        try:
            self._decoder.decode(text.encode("latin-1"))
        except UnicodeDecodeError:
            return False, False
        return True, not self._decoder.getstate()[0]


def cases(wheel: Path) -> dict[str, type[Any]]:
    """Returns the cases by their numbers, in order."""
    found = {}
    with ZipFile(wheel) as package:
        library = _Library({name: package.read(name).decode("latin-1") for name in package.namelist()})
        for name in library.names:
            for case in _classes(library.module(name)):
                if match := _NAME.fullmatch(case.__name__):
                    found[tuple(int(part) for part in match.groups() if part)] = case
    return {".".join(map(str, number)): found[number] for number in sorted(found) if number[0] in GROUPS}


def _classes(module: ModuleType) -> Iterator[type[Any]]:
    for value in vars(module).values():
        for candidate in value if isinstance(value, list) else [value]:
            if isinstance(candidate, type):
                yield candidate


class _Library:
    """The package's modules, which import each other, and a few names of packages that are not installed."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._sources = {
            name.removeprefix(_FOLDER).removesuffix(".py"): text
            for name, text in files.items()
            if name.startswith(_FOLDER) and name.endswith(".py")
        }
        self._modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "xrange": range, "__import__": self._import}
        self._foreign = {
            "binascii": SimpleNamespace(b2a_hex=lambda text: binascii.b2a_hex(text.encode("latin-1")).decode()),
            "autobahn.websocket.protocol": SimpleNamespace(WebSocketProtocol=State),
            "autobahn.websocket.utf8validator": SimpleNamespace(Utf8Validator=Utf8Validator),
        }

    @property
    def names(self) -> list[str]:
        return [name for name in self._sources if re.match(rf"case({'|'.join(map(str, GROUPS))})_", name)]

    def module(self, name: str) -> ModuleType:
        if name not in self._modules:
            text = self._sources[name]
            for pattern, replacement in _PYTHON_3:
                text = pattern.sub(replacement, text)
            made = self._modules[name] = ModuleType(name)
            vars(made)["__builtins__"] = self._builtins
            exec(compile(text, f"{_FOLDER}{name}.py", "exec"), vars(made))  # noqa: S102 - code of a package pinned by its hash
            if name == "case":
                # The original compares pickles, which differ for equal texts that are not the same object.
                vars(made)["Case"].compare = lambda _, one, other: one == other
        return self._modules[name]

    def _import(
        self, name: str, _globals: object, _locals: object, _names: Sequence[str] = (), _level: int = 0
    ) -> object:
        if name in self._foreign:
            return self._foreign[name]
        return self.module(name) if name in self._sources else __import__(name)
