"""What k8s/monitoring selects is there in the overlays: pods, their port of metrics, and the way to it."""

from __future__ import annotations

import json

from stack.games import GAMES
from tests.manifests.overlays import container, manifests, named
from tools.kubernetes.installed import ROOT
from tools.kubernetes.manifests import Manifest, parse, render

MONITORING = ROOT / "k8s" / "monitoring"


def of_kind(kind: str) -> Manifest:
    (found,) = [each for each in parse(render(MONITORING)) if each["kind"] == kind]
    return found


def test_every_process_is_scraped_under_the_name_of_its_service() -> None:
    monitor = of_kind("PodMonitor")["spec"]
    (expression,) = monitor["selector"]["matchExpressions"]
    jobs: set[str] = set()
    for each in manifests("production"):
        labels = each.get("spec", {}).get("template", {}).get("metadata", {}).get("labels", {})
        if each["kind"] == "Deployment" and labels[expression["key"]] in expression["values"]:
            ports = {port["name"] for port in container(each)["ports"]}
            assert {endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]} <= ports
            jobs.add(labels[monitor["jobLabel"]])
    assert jobs == {"gateway", "wallet", *(game.name for game in GAMES)}


def test_the_alert_of_a_process_that_does_not_answer_names_every_job() -> None:
    (group,) = of_kind("PrometheusRule")["spec"]["groups"]
    (expression,) = [rule["expr"] for rule in group["rules"] if rule["alert"] == "ProcessUnreachable"]
    assert set(expression.split('"')[1].split("|")) == {"gateway", "wallet", *(game.name for game in GAMES)}


def test_prometheus_and_the_collector_are_reached() -> None:
    (metrics,) = named(manifests("production"), "NetworkPolicy", "metrics")["spec"]["ingress"]
    (traces,) = of_kind("NetworkPolicy")["spec"]["egress"]
    assert metrics["from"] == traces["to"]


def test_grafana_finds_every_dashboard() -> None:
    found = of_kind("ConfigMap")
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert set(found["data"]) == {path.name for path in (MONITORING / "dashboards").iterdir()}
    assert len({json.loads(text)["uid"] for text in found["data"].values()}) == len(found["data"])
