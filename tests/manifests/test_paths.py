"""The network policies let exactly those processes reach each other that docs/architecture.md lets call each other."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.manifests.overlays import NAMES, container, manifests, named
from tools.kubernetes.manifests import Manifest, workloads

Labels = Mapping[str, str]
Path = tuple[str, str, int]

GAMES_AND_WALLET = ("game-baccarat", "game-blackjack", "game-poker", "game-roulette", "wallet")
# Who calls whom, at which port.
CALLS: set[Path] = {
    *(("gateway", game, 8740) for game in GAMES_AND_WALLET if game != "wallet"),
    *((game, "wallet", 8710) for game in GAMES_AND_WALLET if game != "wallet"),
    ("gateway", "wallet", 8710),
    *((caller, "nats", 4222) for caller in ("gateway", *GAMES_AND_WALLET)),
    ("nats", "nats", 6222),
}


def database_calls(overlay: str) -> set[Path]:
    """Each service and its migration reach their own database, which production has one of for each."""
    services = {name: name.removeprefix("game-") for name in GAMES_AND_WALLET}
    callers = [(name, name) for name in services] + [(f"migrate-{service}", name) for name, service in services.items()]
    if overlay == "dev":
        return {(caller, "postgres", 5432) for caller, _ in callers}
    of_service = {(caller, f"database-{services[name]}", 5432) for caller, name in callers}
    among_themselves = {
        (f"database-{own}", f"database-{own}", port) for own in services.values() for port in (5432, 8000)
    }
    return of_service | among_themselves


def pods(objects: Sequence[Manifest]) -> dict[str, tuple[Labels, dict[str, int]]]:
    """The labels and the named ports of the pods of each workload, those that CloudNativePG makes among them."""
    found: dict[str, tuple[Labels, dict[str, int]]] = {}
    for each in workloads(objects):
        ports = {port["name"]: port["containerPort"] for port in container(each).get("ports", [])}
        found[each["metadata"]["name"]] = (each["spec"]["template"]["metadata"]["labels"], ports)
    for each in objects:
        if each["kind"] == "Cluster":
            ports = {"postgresql": 5432, "status": 8000, "metrics": 9187}
            found[each["metadata"]["name"]] = (each["spec"]["inheritedMetadata"]["labels"], ports)
    return found


def selects(selector: Manifest, labels: Labels) -> bool:
    """Whether a selector finds a pod."""
    expressions = selector.get("matchExpressions", [])
    assert all(expression["operator"] == "In" for expression in expressions)
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and all(
        labels.get(expression["key"]) in expression["values"] for expression in expressions
    )


def allowed(objects: Sequence[Manifest]) -> set[Path]:
    """Every pair of ours of which one may send and the other may receive, at a port that the latter has."""
    policies = [each["spec"] for each in objects if each["kind"] == "NetworkPolicy"]
    found = pods(objects)
    return {
        (sender, receiver, port)
        for sender, (labels, _) in found.items()
        for receiver, (other, ports) in found.items()
        for port in ports.values()
        if _may(policies, "egress", "to", labels, other, ports, port)
        and _may(policies, "ingress", "from", other, labels, ports, port)
    }


def _may(
    policies: Sequence[Manifest],
    direction: str,
    peers: str,
    own: Labels,
    other: Labels,
    ports: Mapping[str, int],
    port: int,
) -> bool:
    of_pod = [policy for policy in policies if selects(policy["podSelector"], own)]
    of_direction = [policy for policy in of_pod if direction.capitalize() in policy["policyTypes"]]
    # Without a policy for it a pod may do anything: then this finds paths that nobody needs.
    return not of_direction or any(
        _is_peer(rule.get(peers), other) and port in _ports(rule, ports)
        for policy in of_direction
        for rule in policy.get(direction, [])
    )


def _is_peer(peers: Sequence[Manifest] | None, labels: Labels) -> bool:
    # A rule without peers is for everybody; one with a namespace or an address is for others than ours.
    return peers is None or any(
        "podSelector" in peer and "namespaceSelector" not in peer and selects(peer["podSelector"], labels)
        for peer in peers
    )


def _ports(rule: Manifest, ports: Mapping[str, int]) -> Iterator[int]:
    return (ports.get(entry["port"], entry["port"]) for entry in rule["ports"])


@pytest.mark.parametrize("overlay", NAMES)
def test_processes_reach_whom_they_call_and_nobody_else(overlay: str) -> None:
    assert allowed(manifests(overlay)) == CALLS | database_calls(overlay)


@pytest.mark.parametrize("policy", ["gateway", "game", "wallet", "bus", "database", "to-database"])
def test_every_policy_matters(policy: str) -> None:
    """Without it something can be reached that may not be, or not be reached that has to be."""
    objects = copy.deepcopy(manifests("dev"))
    objects.remove(named(objects, "NetworkPolicy", policy))

    assert allowed(objects) != CALLS | database_calls("dev")


@pytest.mark.parametrize("overlay", NAMES)
def test_every_pod_is_closed_in_both_directions(overlay: str) -> None:
    closed = named(manifests(overlay), "NetworkPolicy", "nothing-else")["spec"]

    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
