"""The authorities and signing keys of an installation, and how others take their place without anybody being refused.

Those in use are in the folder of secrets itself. While they are exchanged others are beside them: in `next`, which
everybody is told to accept before anybody uses them, and in `previous`, which is accepted until nobody uses it.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from stack.data_folder import write_private
from stack.entropy_keys import KEY_BYTES, entropy_keys_file
from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from tools.kubernetes.authority import Authority

NEXT, PREVIOUS = "next", "previous"
_FOLDERS = ("issuer", "services-authority", "bus-authority", "database-authority")


class WrongStep(Exception):
    """The step does not follow from how the folder is; the message says which one does."""


class Generation:
    """The authorities and the signing keys of one folder; what is missing is made."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.issuer = DevelopmentIssuer(folder / "issuer")
        self.issuer.prepare()
        # Separate authorities: a certificate of one is worth nothing where another is asked for.
        self.services = Authority(folder / "services-authority", "feltro services")
        self.servers = Authority(folder / "bus-authority", "feltro bus")
        self.databases = Authority(folder / "database-authority", "feltro databases")


class Generations:
    """The generation in use, and those that are accepted beside it."""

    def __init__(self, folder: Path) -> None:
        self.own = Generation(folder)
        self._beside = [Generation(folder / name) for name in (NEXT, PREVIOUS) if (folder / name).is_dir()]

    def certificates(self, authority_of: Callable[[Generation], Authority]) -> bytes:
        """Returns the certificates of all authorities that are accepted."""
        return b"".join(authority_of(each).certificate for each in self._all())

    def public_keys(self, published_of: Callable[[DevelopmentIssuer], Path]) -> bytes:
        """Returns all public keys that are accepted, as one document."""
        documents = [json.loads(published_of(each.issuer).read_text()) for each in self._all()]
        return json.dumps({"keys": [key for document in documents for key in document["keys"]]}, indent=2).encode()

    def _all(self) -> Iterator[Generation]:
        yield self.own
        yield from self._beside


def accept(folder: Path) -> None:
    """Makes new authorities and keys, for everybody to accept; repeated, it changes nothing."""
    if (folder / PREVIOUS).is_dir():
        raise WrongStep("the last exchange is not over: `refuse` comes first")
    if (folder / NEXT).is_dir():
        return
    Generation(folder)
    making = folder / f"{NEXT}.making"
    shutil.rmtree(making, ignore_errors=True)
    issuer = Generation(making).issuer
    for game in GAMES:
        issuer.game_keys(game.name)
        if game.hides_cards:
            file = entropy_keys_file(folder / "keys", game.name)
            shutil.copyfile(file, making / f"{game.name}.entropy")
            with (making / f"{game.name}.entropy").open("a") as lines:
                lines.write(f"{datetime.now(UTC):%Y%m%d-%H%M%S} {secrets.token_hex(KEY_BYTES)}\n")
    making.rename(folder / NEXT)


def entropy_keys(folder: Path, game: str) -> bytes:
    """Returns the keys of sealed entropy of a game, with the next one behind those in use."""
    file = folder / NEXT / f"{game}.entropy"
    return file.read_bytes() if file.is_file() else entropy_keys_file(folder / "keys", game).read_bytes()


def use(folder: Path) -> None:
    """Puts the new ones in use; the others stay accepted. Interrupted and repeated, it goes on."""
    if not (folder / NEXT).is_dir():
        raise WrongStep("there is nothing new that everybody accepts: `accept` comes first")
    (folder / PREVIOUS).mkdir(exist_ok=True, mode=0o700)
    for name in _FOLDERS:
        if (folder / NEXT / name).is_dir():
            if (folder / name).is_dir():
                (folder / name).rename(folder / PREVIOUS / name)
            (folder / NEXT / name).rename(folder / name)
    for game in (game.name for game in GAMES if game.hides_cards):
        *earlier, newest = (folder / NEXT / f"{game}.entropy").read_text().splitlines()
        write_private(entropy_keys_file(folder / "keys", game), "\n".join([newest, *earlier, ""]).encode())
    shutil.rmtree(folder / NEXT)


def refuse(folder: Path) -> None:
    """Has nobody accept the former ones any more; those of sealed entropy stay, for rounds that they sealed."""
    if (folder / NEXT).is_dir():
        raise WrongStep("the new ones are not in use yet: `use` comes first")
    shutil.rmtree(folder / PREVIOUS, ignore_errors=True)


STEPS: Mapping[str, Callable[[Path], None]] = {"accept": accept, "use": use, "refuse": refuse}
