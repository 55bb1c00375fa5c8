"""An earlier release of the platform, from the history of this repository; it runs with today's dependencies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

from feltro.table.v1 import types_pb2
from stack.settings import ROOT

# Where hatch_build.py puts the code of the contracts, and their descriptions.
_GENERATED = Path("build", "gen")
_DESCRIPTORS = _GENERATED / "feltro" / "descriptors.binpb"


class NoSuchRelease(RuntimeError):
    """The earlier release is not in this repository; the message says what to do."""


class EarlierRelease:
    """The sources of a revision in a folder of its own, with the code of its contracts."""

    def __init__(self, revision: str, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=False)
        if archive.returncode:
            wanted = "name another one, or fetch its history (git fetch --unshallow)"
            raise NoSuchRelease(f"there is no {revision} in this repository: {wanted}")
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
        subprocess.run([sys.executable, "hatch_build.py"], cwd=folder, check=True, capture_output=True)
        described = descriptor_pb2.FileDescriptorSet.FromString((folder / _DESCRIPTORS).read_bytes())
        self._pool = DescriptorPool()
        for file in described.file:
            self._pool.Add(file)

    def has_game(self, game: str) -> bool:
        """Whether it has a service of a game."""
        return (self.folder / "services" / game).is_dir()

    @property
    def has_tournaments(self) -> bool:
        """Whether its poker plays tournaments."""
        return (self.folder / "services" / "poker" / "directing").is_dir()

    @property
    def variables(self) -> dict[str, str]:
        """Variables by which Python finds its modules before those of this release."""
        return {"PYTHONPATH": f"{self.folder}{os.pathsep}{self.folder / _GENERATED}"}

    def without_unknown(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a table's configuration without what this release does not know yet."""
        described = self._pool.FindMessageTypeByName(types_pb2.TableConfiguration.DESCRIPTOR.full_name)
        known: Message = message_factory.GetMessageClass(described)()
        json_format.ParseDict(dict(configuration), known, ignore_unknown_fields=True, descriptor_pool=self._pool)
        return json_format.MessageToDict(known, preserving_proto_field_name=True, descriptor_pool=self._pool)
