"""Writes the report of a drill: one page that needs nothing else, with the verdict first."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape

from tests.drill.checks.findings import Check
from tests.drill.checks.memory import Memory
from tests.drill.checks.recovery import Recovery
from tests.drill.drill import RECOVERS_WITHIN_S, Result

_WIDTH, _HEIGHT = 1000, 140
_BARS = 250
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #2a7d46; --bad: #c0392b; --quiet: #888; --mark: #c0392b30; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .5rem; }
.verdict { font-size: 1.15rem; font-weight: 600; } .holds { color: var(--good); } .fails { color: var(--bad); }
.quiet { color: var(--quiet); } .numbers { display: flex; flex-wrap: wrap; gap: .4rem 2rem; margin: 1rem 0; }
.numbers b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; }
th, td { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { width: 100%; height: auto; display: block; } code { font-size: .92em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; border-left: 3px solid var(--bad);
padding-left: .8rem; }
details { margin: .3rem 0; }
"""


def html(result: Result) -> str:
    """Returns the whole page."""
    plan = result.plan
    failed = [check for check in result.checks if not check.holds]
    verdict = (
        '<p class="verdict holds">Everything agrees.</p>'
        if not failed
        else f'<p class="verdict fails">{len(failed)} of {len(result.checks)} checks found something.</p>'
    )
    when = datetime.fromtimestamp(result.began, UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Drill {plan.seed}</title>",
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>",
        f"<h1>Drill {plan.seed}</h1>{verdict}",
        f'<p class=quiet>{when}. Again: <code>make drill ARGS="{again(result)}"</code></p>',
        _numbers(result),
        _section("Play while it was hurt", _timeline(result)),
        *([_section("What was found", _violations(failed))] if failed else []),
        _section("Checks", _checks(result.checks)),
        _section("Faults, and the time to recover", _faults(result)),
        _section("Memory", _memory(result.memories)),
        _left_out(result),
    ]
    return "\n".join(parts) + "\n"


def again(result: Result) -> str:
    """The arguments that repeat the drill."""
    plan = result.plan
    only = f" --only '{plan.only}'" if plan.only else ""
    earlier = f" --from {plan.earlier}" if plan.earlier else ""
    asked = f"--seed {plan.seed} --seconds {plan.seconds:.0f} --bots {plan.bots} --longest {plan.longest_s:g}"
    return f"{asked}{only}{earlier}"


def summary(result: Result) -> str:
    """Returns a few lines for the terminal."""
    lines = [
        f"{'ok  ' if check.holds else 'FAIL'} {check.name}: {check.looked_at} {check.unit}"
        + (f", {check.violations} violations" if check.violations else "")
        + (f" ({check.note.strip('; ')})" if check.note else "")
        for check in result.checks
    ]
    for check in result.checks:
        lines += [f"  {check.name}: {sentence}" for sentence in check.sentences[:5]]
    return "\n".join(lines)


def facts(result: Result) -> str:
    """Returns the checks and the recoveries as JSON, for programs."""
    found = {
        "seed": result.plan.seed,
        "holds": result.holds,
        "checks": [asdict(check) for check in result.checks],
        "recoveries": [
            {
                "what": str(each.injury.step),
                "answers_s": _finite(each.answers_s),
                "money_s": _finite(each.money_s),
                "longest_wait_s": each.longest_wait_s,
            }
            for each in result.recoveries
        ],
        "memory": [asdict(memory) for memory in result.memories],
    }
    return json.dumps(found, indent=2) + "\n"


def _section(title: str, content: str) -> str:
    return f"<h2>{escape(title)}</h2>{content}"


def _numbers(result: Result) -> str:
    recovered = sorted(each.money_s for each in result.recoveries if each.money_s < math.inf)
    numbers = [
        ("minutes", f"{(result.ended - result.began) / 60:.1f}"),
        ("bots", str(result.plan.bots)),
        ("commands answered", f"{len(result.answers):,}"),
        ("attempts", f"{result.attempts:,}"),
        ("faults", str(sum(len(each.injury.step.faults) for each in result.recoveries))),
        ("median time until money moves", f"{recovered[len(recovered) // 2]:.1f} s" if recovered else "–"),
        ("longest", f"{recovered[-1]:.1f} s" if recovered else "–"),
    ]
    return "<div class=numbers>" + "".join(f"<span><b>{value}</b>{name}</span>" for name, value in numbers) + "</div>"


def _timeline(result: Result) -> str:
    """Acknowledged commands over time, with the faults behind them."""
    if not result.answers:
        return "<p>Nothing was answered.</p>"
    length = max(result.ended - result.began, 1.0)
    counts = Counter(min(_BARS - 1, int((at - result.began) / length * _BARS)) for at in result.answers)
    most = max(counts.values())

    def x(at: float) -> float:
        return (at - result.began) / length * _WIDTH

    bars = "".join(
        f'<rect x="{number * _WIDTH / _BARS:.1f}" width="{_WIDTH / _BARS - 0.6:.1f}"'
        f' y="{_HEIGHT - count / most * _HEIGHT:.1f}" height="{count / most * _HEIGHT:.1f}" fill="currentColor"'
        ' opacity=".55"/>'
        for number, count in sorted(counts.items())
    )
    hurt = "".join(
        f'<rect x="{x(each.injury.began):.1f}" width="{max(2.0, x(each.injury.mended) - x(each.injury.began)):.1f}"'
        f' y="0" height="{_HEIGHT}" fill="var(--mark)"><title>{escape(str(each.injury.step))}</title></rect>'
        for each in result.recoveries
    )
    per_second = most / (length / _BARS)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role=img aria-label="Answers over time">{hurt}{bars}</svg>'
        f"<p class=quiet>Answered commands over {length:.0f} s, at most {per_second:.0f} a second."
        " Red: something was hurt (hover to see what)."
        f" The drill itself was late by {result.own_delay_s:.1f} s at most: what is much more is the platform's.</p>"
    )


def _violations(failed: Iterable[Check]) -> str:
    parts = []
    for check in failed:
        parts.append(f"<h3 class=fails>{escape(check.name)}: {check.violations}</h3><ul>")
        parts += [f"<li>{escape(sentence)}" for sentence in check.sentences]
        parts.append("</ul>")
        if check.around:
            around = escape("\n".join(check.around[:60]))
            parts.append(f"<details open><summary>The record around it</summary><pre>{around}</pre></details>")
    return "\n".join(parts)


def _checks(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr><td class="{"holds" if check.holds else "fails"}">{"holds" if check.holds else "violated"}'
        f"<td>{escape(check.name)}<br><span class=quiet>{escape(check.note.strip('; '))}</span>"
        f"<td class=quiet>{escape(check.guarantee)}<td class=n>{check.looked_at:,} {escape(check.unit)}"
        f"<td class=n>{check.violations or '–'}"
        for check in checks
    )
    return f"<table><tr><th><th>What has to hold<th><th class=n>Looked at<th class=n>Violations</tr>{rows}</table>"


def _faults(result: Result) -> str:
    rows = "".join(_fault_row(result, recovery) for recovery in result.recoveries)
    alone = "".join(
        f"<li>{escape(name)}, {at - result.began:.1f} s after the beginning" for name, at in result.ended_alone
    )
    ended = f"<p>Ended by themselves and were started again:</p><ul>{alone}</ul>" if alone else ""
    return (
        "<p class=quiet>From the end of a fault until every table answered a call, and until every table had taken a"
        " bet or a decision, which a round of a shared table delays by some seconds even where nothing is hurt. The"
        " longest wait is that of one client for one command sent while the fault lasted.</p>"
        "<table><tr><th class=n>At<th>Hurt<th class=n>Answers after<th class=n>Money moves after"
        "<th class=n>Longest wait"
        f"<th class=n>Repeated attempts</tr>{rows}</table>{ended}"
    )


def _fault_row(result: Result, recovery: Recovery) -> str:
    injury = recovery.injury
    what = "<br>".join(escape(str(fault)) for fault in injury.step.faults)
    if injury.left_out:
        what += f"<br><span class=quiet>{escape(injury.left_out)}</span>"
    late = ' class="n fails"' if not injury.recovered or recovery.money_s > RECOVERS_WITHIN_S else " class=n"
    return (
        f"<tr><td class=n>{injury.began - result.began:.0f} s<td>{what}<td class=n>{_seconds(recovery.answers_s)}"
        f"<td{late}>{_seconds(recovery.money_s)}<td class=n>{_seconds(recovery.longest_wait_s)}"
        f"<td class=n>{recovery.unanswered_attempts or '–'}"
    )


def _memory(found: Sequence[Memory]) -> str:
    mib = 1024 * 1024
    rows = "".join(
        f"<tr><td>{escape(each.name)}<td class=n>{each.second / mib:.0f}<td class=n>{each.last / mib:.0f}"
        f"<td class=n>{(each.last - each.second) / mib:+.0f}<td class=n>{each.most / mib:.0f}"
        for each in found
    )
    head = "<tr><th>Process<th class=n>Second third<th class=n>Last third<th class=n>Change<th class=n>Most</tr>"
    return f"<p class=quiet>MiB, medians; a process that was killed began anew.</p><table>{head}{rows}</table>"


def _left_out(result: Result) -> str:
    if not result.plan.without_disks:
        return ""
    return _section("Left out", f"<p>No disk was filled: {escape(result.plan.without_disks)}.</p>")


def _seconds(seconds: float) -> str:
    return "never" if seconds == math.inf else f"{seconds:.1f} s"


def _finite(seconds: float) -> float | None:
    return None if seconds == math.inf else seconds
