"""The files of k8s/monitoring, and what they ask of Prometheus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stack.settings import ROOT

HOME = ROOT / "k8s" / "monitoring"
DASHBOARDS = sorted((HOME / "dashboards").glob("*.json"))
_METRIC = re.compile(r"\b(?:feltro|process)_[a-z_]+")
_SERIES = re.compile(r"_(?:bucket|sum|count|total)$")


@dataclass(frozen=True)
class Alert:
    """One alert."""

    name: str
    expression: str
    rule: dict[str, Any]


@dataclass(frozen=True)
class Query:
    """One query of a dashboard."""

    dashboard: str
    panel: str
    expression: str

    @property
    def now(self) -> str:
        """The query as Grafana sends it."""
        return self.expression.replace("$__rate_interval", "60s")


def rules() -> dict[str, Any]:
    """The rules, as Prometheus itself reads them."""
    found: dict[str, Any] = yaml.safe_load((HOME / "rules.yaml").read_text(encoding="utf-8"))["spec"]
    return found


def alerts() -> list[Alert]:
    return [Alert(rule["alert"], rule["expr"], rule) for group in rules()["groups"] for rule in group["rules"]]


def queries() -> Iterator[Query]:
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                yield Query(path.stem, panel["title"], target["expr"])


def metrics_in(text: str) -> set[str]:
    """The metrics that an expression or a page names, as a process describes them."""
    return {_SERIES.sub("", name) for name in _METRIC.findall(text)}


def write_rules(folder: Path) -> Path:
    """Writes the rules as a file for Prometheus."""
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump(rules()), encoding="utf-8")
    return file
