"""Every process starts with what its manifest gives it: each variable is one of its settings, and none is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from services.kit.settings import WrongSettings, load
from stack.games import GAMES
from tests.manifests.environment import FILES, Cluster, NotThere, settings_of
from tests.manifests.overlays import NAMES, container, manifests, named
from tools.kubernetes.manifests import Manifest, workloads
from tools.kubernetes.secrets import ClusterSecrets

TABLES = Path(__file__).resolve().parents[2] / "stack" / "tables"
# Read by a library (libpq's name for an authority), or by another variable.
NOT_OURS = frozenset({"PGSSLROOTCERT", "POD_IP"})
# Without these a process of production does not start, or would be another one.
REQUIRED = {
    "wallet": ("FELTRO_WALLET_DATABASE_URL", "FELTRO_WALLET_NATS_PASSWORD_FILE", "FELTRO_ISSUER_JWKS"),
    "gateway": ("FELTRO_GATEWAY_NATS_PASSWORD_FILE", "FELTRO_NATS_URL", "FELTRO_GRPC_TLS_KEY"),
    "game-blackjack": (
        "FELTRO_BLACKJACK_DATABASE_URL",
        "FELTRO_BLACKJACK_ENTROPY_KEYS_FILE",
        "FELTRO_BLACKJACK_SIGNING_KEY",
        "FELTRO_BLACKJACK_TABLE_KEY_FILE",
        "FELTRO_GRPC_TLS_CA",
        "FELTRO_NATS_CERTIFICATE",
    ),
}


@pytest.fixture
def beside(tmp_path: Path, request: pytest.FixtureRequest) -> list[Manifest]:
    """The Secrets and ConfigMaps that are not in git, for the overlay of the test."""
    overlay: str = request.getfixturevalue("overlay")
    made = ClusterSecrets(tmp_path / "secrets", overlay, TABLES if overlay == "dev" else None)
    return [*made.objects()]


def problems(objects: Sequence[Manifest], root: Path, monkeypatch: pytest.MonkeyPatch, only: str = "") -> Iterator[str]:
    """What would keep a process from starting as it is meant to, for all or `only` one."""
    cluster = Cluster(objects)
    for workload in cluster.processes():
        name = workload["metadata"]["name"]
        if only and name != only:
            continue
        settings = settings_of(workload)
        try:
            variables = cluster.variables(workload)
            cluster.mount(workload, root / name)
        except NotThere as missing:
            yield f"{name}: there is no {missing}"
            continue
        known = {settings.variable_name(field) for field in settings.model_fields} | NOT_OURS
        yield from (f"{name}: {variable} is no setting" for variable in variables.keys() - known)
        with monkeypatch.context() as environment:
            for variable, value in variables.items():
                environment.setenv(variable, value.replace(FILES, f"{root / name}{FILES}"))
            try:
                load(settings)
            except WrongSettings as wrong:
                yield f"{name}: {wrong}"


@pytest.mark.parametrize("overlay", NAMES)
def test_every_process_has_its_settings_and_no_others(
    overlay: str, beside: list[Manifest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = [*manifests(overlay), *beside]

    assert len([*Cluster(objects).processes()]) == 2 + len(GAMES) + 1 + len(GAMES)
    assert [*problems(objects, tmp_path, monkeypatch)] == []


@pytest.mark.parametrize("overlay", ["production"])
@pytest.mark.parametrize("name", REQUIRED)
def test_a_misspelt_variable_is_found(
    name: str, overlay: str, beside: list[Manifest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for position, variable in enumerate(container(named(manifests(overlay), "Deployment", name))["env"]):
        objects = manifests(overlay)
        container(named(objects, "Deployment", name))["env"][position]["name"] = f"{variable['name']}S"

        assert [*problems([*objects, *beside], tmp_path, monkeypatch, name)], variable["name"]


@pytest.mark.parametrize("overlay", ["production"])
@pytest.mark.parametrize(("name", "missing"), [(name, each) for name, names in REQUIRED.items() for each in names])
def test_a_missing_variable_is_found(
    name: str, missing: str, overlay: str, beside: list[Manifest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = manifests(overlay)
    own = container(named(objects, "Deployment", name))
    own["env"] = [variable for variable in own["env"] if variable["name"] != missing]
    for each in objects:
        if each["kind"] == "ConfigMap":
            each["data"].pop(missing, None)

    assert [*problems([*objects, *beside], tmp_path, monkeypatch, name)]


@pytest.mark.parametrize("overlay", NAMES)
def test_everything_secret_is_for_somebody(overlay: str, beside: list[Manifest]) -> None:
    """And every Secret that a workload names is made: the platform's in the test above, the others' here."""
    named_secrets = set(_names(manifests(overlay), "secret"))
    made = {each["metadata"]["name"] for each in beside if each["kind"] == "Secret"}

    # The certificate that clients see is yours, or your ingress controller's.
    assert named_secrets - {"gateway-public-tls"} == made


def _names(objects: Sequence[Manifest], kind: str) -> Iterator[str]:
    for each in workloads(objects):
        pod = each["spec"]["template"]["spec"]
        yield from (volume[kind]["secretName"] for volume in pod["volumes"] if kind in volume)
        yield from (
            source["secretRef"]["name"] for source in container(each).get("envFrom", []) if "secretRef" in source
        )
        for variable in container(each).get("env", []):
            if "secretKeyRef" in variable.get("valueFrom", {}):
                yield variable["valueFrom"]["secretKeyRef"]["name"]
    for each in objects:
        if each["kind"] == "Cluster":
            spec = each["spec"]
            yield from (spec["bootstrap"]["initdb"]["secret"]["name"], *spec["certificates"].values())
            yield from (role["passwordSecret"]["name"] for role in spec["managed"]["roles"])


def test_no_secret_is_in_git() -> None:
    for overlay in NAMES:
        assert not [each for each in manifests(overlay) if each["kind"] == "Secret"]
