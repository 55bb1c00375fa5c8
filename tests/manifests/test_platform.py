"""The manifests hold what the platform promises: its games, its users of the bus, and the time that a stop takes."""

from __future__ import annotations

from typing import cast

import pytest

from gateway.settings import GatewaySettings
from services.kit.bus.permissions import MONITOR, OPERATOR, platform
from services.kit.bus.permissions_command import variable_of
from services.kit.bus.server_configuration import accounts
from services.kit.settings import ServiceSettings
from services.kit.table.server.settings import GameSettings
from services.wallet.settings import WalletSettings
from stack.games import GAMES
from tests.manifests.environment import settings_of
from tests.manifests.overlays import NAMES, container, manifests, named
from tools.kubernetes.installed import ROOT
from tools.kubernetes.manifests import Manifest, workloads

# What a process has beyond its own longest stop, for the machine to be slow.
MARGIN_S = 10
CONVENTIONAL = ("name", "component", "part-of", "managed-by")


def test_every_game_is_installed() -> None:
    deployed = {each["metadata"]["name"] for each in workloads(manifests("dev"))}

    assert {f"game-{game.name}" for game in GAMES} == {name for name in deployed if name.startswith("game-")}
    assert {f"migrate-{name}" for name in ("wallet", *(game.name for game in GAMES))} == {
        name for name in deployed if name.startswith("migrate-")
    }


def test_the_users_of_the_bus_are_those_of_this_release() -> None:
    """`feltro nats-permissions <games> > k8s/base/nats/accounts.conf`, for a new game or other permissions."""
    processes = platform(game.name for game in GAMES)
    users = [*(process.user for process in processes), OPERATOR, MONITOR]
    wanted = accounts(processes, {user: f"${variable_of(user)}" for user in users})

    assert (ROOT / "k8s/base/nats/accounts.conf").read_text() == wanted


def _setting(workload: Manifest, field: str) -> float:
    """The value of a setting in a manifest, or its default."""
    settings: type[ServiceSettings] = settings_of(workload)
    given = {variable["name"]: variable.get("value") for variable in container(workload)["env"]}
    value = given.get(settings.variable_name(field))
    return float(cast("str", value) if value is not None else settings.model_fields[field].default)


@pytest.mark.parametrize("overlay", NAMES)
def test_a_pod_has_the_time_that_its_process_takes_to_stop(overlay: str) -> None:
    for each in workloads(manifests(overlay)):
        if each["kind"] != "Deployment":
            continue
        settings = settings_of(each)
        stops: dict[type[ServiceSettings], tuple[str, ...]] = {
            GameSettings: ("handover_timeout_s", "stop_grace_s", "stop_grace_s"),
            WalletSettings: ("stop_grace_s",),
            GatewaySettings: ("not_ready_s", "stop_grace_s"),
        }
        (fields,) = [found for kind, found in stops.items() if issubclass(settings, kind)]
        longest = sum(_setting(each, field) for field in fields)

        grace = each["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert grace >= longest + MARGIN_S, each["metadata"]["name"]


@pytest.mark.parametrize("overlay", NAMES)
def test_a_gateway_answers_until_nobody_is_sent_to_it(overlay: str) -> None:
    gateway = named(manifests(overlay), "Deployment", "gateway")
    probe = container(gateway)["readinessProbe"]

    assert _setting(gateway, "not_ready_s") > probe["periodSeconds"] * probe["failureThreshold"]


@pytest.mark.parametrize("overlay", NAMES)
def test_streams_are_kept_by_every_server_of_the_bus(overlay: str) -> None:
    objects = manifests(overlay)

    servers = named(objects, "StatefulSet", "nats")["spec"]["replicas"]
    assert _setting(named(objects, "Deployment", "wallet"), "stream_replicas") == servers == 3


@pytest.mark.parametrize("overlay", NAMES)
def test_everything_that_makes_pods_has_the_conventional_labels(overlay: str) -> None:
    for each in workloads(manifests(overlay)):
        assert {f"app.kubernetes.io/{label}" for label in CONVENTIONAL} <= each["metadata"]["labels"].keys()


@pytest.mark.parametrize("overlay", NAMES)
def test_the_namespace_admits_restricted_pods_alone(overlay: str) -> None:
    labels = named(manifests(overlay), "Namespace", "feltro")["metadata"]["labels"]

    assert {labels[f"pod-security.kubernetes.io/{mode}"] for mode in ("enforce", "audit", "warn")} == {"restricted"}


def test_what_scales_by_itself_has_no_number_of_replicas() -> None:
    """Else every `kubectl apply` would undo what the autoscaler did."""
    objects = manifests("production")
    scaled = [each["spec"]["scaleTargetRef"]["name"] for each in objects if each["kind"] == "HorizontalPodAutoscaler"]

    assert sorted(scaled) == ["game-baccarat", "game-blackjack", "game-poker", "game-roulette", "gateway"]
    assert not [name for name in scaled if "replicas" in named(objects, "Deployment", name)["spec"]]
