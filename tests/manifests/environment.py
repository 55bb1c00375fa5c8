"""What a process of the platform finds in its container: its variables, and the files of its volumes."""

from __future__ import annotations

import base64
import importlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gateway.settings import GatewaySettings
from services.kit.database.migration import MigrationSettings
from services.kit.settings import ServiceSettings
from services.kit.table.server.settings import GameSettings
from services.wallet.settings import WalletSettings
from tests.manifests.overlays import container
from tools.kubernetes.manifests import Manifest, workloads

POD_ADDRESS = "10.244.0.7"
# Where the files of all our volumes are.
FILES = "/run/feltro/"
_IMAGE = re.compile(r"(.*/)?feltro-(?P<service>[a-z]+)(:.*)?")
_REFERENCE = re.compile(r"\$\(([A-Z_]+)\)")

Data = dict[str, bytes]


class NotThere(Exception):
    """A workload names something that nobody makes."""


class Cluster:
    """The objects of an overlay together with those that are made beside it."""

    def __init__(self, objects: Sequence[Manifest]) -> None:
        self._objects = objects
        self._data = {
            (each["kind"], each["metadata"]["name"]): _data_of(each)
            for each in objects
            if each["kind"] in {"ConfigMap", "Secret"}
        }

    def processes(self) -> Iterator[Manifest]:
        """The workloads that run our images."""
        return (each for each in workloads(self._objects) if _IMAGE.fullmatch(container(each)["image"]))

    def variables(self, workload: Manifest) -> dict[str, str]:
        """The environment of its container, beyond what the image brings."""
        found: dict[str, str] = {}
        for source in container(workload).get("envFrom", []):
            kind, name = ("ConfigMap", "configMapRef") if "configMapRef" in source else ("Secret", "secretRef")
            found |= {key: value.decode() for key, value in self.data(kind, source[name]["name"]).items()}
        for variable in container(workload).get("env", []):
            value = str(variable["value"]) if "value" in variable else self._referred(variable["valueFrom"])
            found[variable["name"]] = _REFERENCE.sub(lambda match: found.get(match[1], match[0]), value)
        return found

    def mount(self, workload: Manifest, root: Path) -> None:
        """Writes the files of its volumes below a folder."""
        volumes = {volume["name"]: volume for volume in workload["spec"]["template"]["spec"]["volumes"]}
        for mounted in container(workload)["volumeMounts"]:
            volume, place = volumes[mounted["name"]], root / mounted["mountPath"].lstrip("/")
            place.mkdir(parents=True, exist_ok=True)
            for name, content in self._files_of(volume).items():
                (place / name).write_bytes(content)

    def data(self, kind: str, name: str) -> Data:
        """What an object holds."""
        if (kind, name) not in self._data:
            raise NotThere(f"{kind} {name}")
        return self._data[kind, name]

    def _files_of(self, volume: Manifest) -> Data:
        if "secret" in volume:
            return self.data("Secret", volume["secret"]["secretName"])
        return self.data("ConfigMap", volume["configMap"]["name"]) if "configMap" in volume else {}

    def _referred(self, source: Manifest) -> str:
        if "fieldRef" in source:
            return POD_ADDRESS
        ((kind, reference),) = source.items()
        data = self.data({"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}[kind], reference["name"])
        if reference["key"] not in data:
            raise NotThere(f"{reference['key']} in {reference['name']}")
        return data[reference["key"]].decode()


def settings_of(workload: Manifest) -> type[ServiceSettings]:
    """The settings of the process that a workload runs."""
    image = _IMAGE.fullmatch(container(workload)["image"])
    assert image is not None
    service = image["service"]
    if workload["kind"] == "Job":
        return MigrationSettings.for_service(service)
    if service == "wallet":
        return WalletSettings
    if service == "gateway":
        return GatewaySettings
    module = importlib.import_module(f"services.{service}.settings")
    (found,) = [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, GameSettings) and each.__module__ == module.__name__
    ]
    return found


def _data_of(manifest: Manifest) -> Data:
    if manifest["kind"] == "Secret":
        return {key: base64.b64decode(value) for key, value in manifest.get("data", {}).items()}
    return {key: str(value).encode() for key, value in manifest.get("data", {}).items()}
