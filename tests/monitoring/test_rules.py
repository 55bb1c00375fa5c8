"""Every alert fires when something is wrong, stays silent when nothing is, and is explained to those it wakes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stack.settings import ROOT
from tests.monitoring.files import alerts, write_rules
from tools.kubernetes.installed import run
from tools.prometheus import program

CASES: dict[str, dict[str, list[dict[str, str]]]] = yaml.safe_load(
    (Path(__file__).parent / "alerts.yaml").read_text(encoding="utf-8")
)
# Long enough for every `for`, and for every range.
WHEN = "30m"


def unit_test(name: str, state: str) -> dict[str, Any]:
    """What promtool has to find of one alert, while nothing but its own series is there."""
    rule = next(alert.rule for alert in alerts() if alert.name == name)
    return {
        "interval": "1m",
        "input_series": CASES[name][state],
        "alert_rule_test": [{"eval_time": WHEN, "alertname": name, "exp_alerts": []}],
        "name": f"{name} {state} {rule['expr']}",
    }


def fires(name: str, state: str, folder: Path) -> bool:
    """Whether an alert fires at the end of one of its cases."""
    write_rules(folder)
    file = folder / "test.yaml"
    content = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [unit_test(name, state)]}
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    done = subprocess.run(
        [program("promtool"), "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    # It expected none: what it complains of is what it got, and nothing else.
    told = done.stdout + done.stderr
    assert ("SUCCESS" in told) == (done.returncode == 0)
    assert done.returncode == 0 or f'alertname="{name}"' in told, told
    return done.returncode != 0


def test_prometheus_takes_the_rules(tmp_path: Path) -> None:
    assert f"SUCCESS: {len(alerts())} rules found" in run(
        [program("promtool"), "check", "rules", str(write_rules(tmp_path))]
    )


def test_every_alert_has_its_cases() -> None:
    assert set(CASES) == {alert.name for alert in alerts()}


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_when_something_is_wrong_and_only_then(name: str, tmp_path: Path) -> None:
    assert fires(name, "wrong", tmp_path)
    assert not fires(name, "right", tmp_path)


def test_every_alert_is_explained() -> None:
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    explained = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and line.count("|") == 4}
    assert {alert.name for alert in alerts()} <= explained
    assert all(alert.rule["labels"]["severity"] in {"page", "ticket"} for alert in alerts())
