"""Writes the results as Markdown that an inspector can read from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from services.kit.randomness.health_tests import (
    ASSESSED_BITS,
    FALSE_ALARM_BITS,
    PROPORTION_CUTOFF,
    REPETITION_CUTOFF,
    WINDOW,
)
from services.kit.randomness.source import START_UP_SAMPLES
from tools.rng_report import battery, samples
from tools.rng_report.battery import Judgement
from tools.rng_report.dieharder import Row
from tools.rng_report.examination import ROUNDS_LIMIT, UNLIKELY, Plan, Section, is_sound
from tools.rng_report.samples import Fit
from tools.rng_report.table_draws import TableDraws

SOURCE = f"""\
Every number comes from the operating system's cryptographic generator (Linux: `getrandom`, ChaCha20, seeded and
reseeded by the kernel), read when a draw needs it and never before. The bytes pass the continuous tests of NIST
SP 800-90B 4.4 on their way (repetition count, cutoff {REPETITION_CUTOFF}; adaptive proportion, cutoff
{PROPORTION_CUTOFF} of {WINDOW}; for {ASSESSED_BITS} bits of min-entropy a byte at alpha = 2^-{FALSE_ALARM_BITS}).
{START_UP_SAMPLES:,} bytes are tested and discarded before the first use; after a failure nothing is handed out until a
restart has done the same.

To draw below n the fewest whole bytes that can tell n numbers apart are read as a big-endian number; numbers from the
largest multiple of n upwards are rejected, of the others the remainder is taken. Packs are shuffled by Fisher and
Yates, from the last place down. Both are in `services/kit/randomness/tape.py`, and what is examined here is drawn
by that code.
"""


@dataclass(slots=True)
class Conditions:
    """The results under one set of circumstances."""

    title: str
    circumstances: str
    sections: list[Section] = field(default_factory=list)
    table_draws: TableDraws | None = None
    missing: list[str] = field(default_factory=list)
    """What was not done, with the reason."""

    @property
    def failed(self) -> list[str]:
        found = [f"{section.kind}: {name}" for section in self.sections for name in section.failed]
        return found + [f"the tables' draws: {name}" for name in (self.table_draws.failed if self.table_draws else ())]

    @property
    def not_done(self) -> list[str]:
        return self.missing + [f"{section.kind}: {what}" for section in self.sections for what in section.missing]


def verdict(all_conditions: Sequence[Conditions]) -> str:
    if any(conditions.failed for conditions in all_conditions):
        return "FAILED"
    return "INCOMPLETE" if any(conditions.not_done for conditions in all_conditions) else "PASSED"


def markdown(at: datetime, tools: str, plan: Plan, all_conditions: Sequence[Conditions]) -> str:
    lines = [f"# Randomness of Feltro, {at:%Y-%m-%d %H:%M %z}", "", f"**{verdict(all_conditions)}**", ""]
    for conditions in all_conditions:
        lines += [f"* {conditions.title}: failed: {name}" for name in conditions.failed]
        lines += [f"* {conditions.title}: not done: {what}" for what in conditions.not_done]
    lines += ["", "## The source and the mapping", "", SOURCE, "## How it is judged", "", *_method(tools, plan)]
    for conditions in all_conditions:
        lines += ["", f"## {conditions.title}", "", conditions.circumstances]
        for section in conditions.sections:
            lines += ["", *_section(section)]
        if conditions.table_draws:
            lines += ["", *_tables(conditions.table_draws)]
    return "\n".join([*lines, ""])


def _method(tools: str, plan: Plan) -> Iterator[str]:
    yield (
        f"Of each way of drawing {plan.sequences} sequences of {plan.bits:,} bits go through NIST SP 800-22 rev. 1a"
        " (`tools/rng_report/nist.py`, compared with NIST's published values by `tests/tools/test_nist_vectors.py`)."
        " By 4.2 a test stands out if fewer sequences than three standard deviations allow reach"
        f" p ≥ {battery.ALPHA}, or if the p-values are not uniform (P < {battery.LEAST_UNIFORMITY}; judged from"
        f" {battery.SEQUENCES_FOR_UNIFORMITY} sequences on). A chi-square stands out outside {UNLIKELY} ≤ p ≤"
        f" {1 - UNLIKELY}, a result of dieharder where it does not say PASSED ({tools})."
    )
    yield ""
    yield (
        "A perfect source fails single tests by chance: at p < 0.01 one sequence in a hundred. As 4.2 advises, what"
        f" stands out is examined again on fresh samples; what stands out in {ROUNDS_LIMIT} independent samples has"
        " failed, and what chance cannot explain (p < 10⁻⁹) fails at once."
    )
    too_short = battery.too_short_for(plan.bits)
    if too_short:
        yield f"\nThe sequences are too short for these tests, which were left out: {', '.join(too_short)} (`--bits`)."
    if plan.bits < battery.RECOMMENDED:
        yield (
            f"\nNIST recommends {battery.RECOMMENDED:,} bits for the overlapping template, linear complexity and random"
            " excursions tests (`--bits 1048576`); here they have what their approximations need, and random excursions"
            " are examined only where a sequence has cycles enough."
        )


def _section(section: Section) -> Iterator[str]:
    yield f"### {section.kind.capitalize()}"
    yield ""
    what = samples.DRAW_KINDS[section.kind].description
    yield f"{what[0].upper()}{what[1:]}. Drawn: {section.outcomes:,}, in samples: {len(section.rounds)}."
    if not section.rounds:
        return
    first = [result for results in section.rounds[0].values() for result in results]
    judgements = [result for result in first if isinstance(result, Judgement)]
    yield from (
        "",
        "| NIST SP 800-22 | tests | sequences | fewest passed | needed | least uniformity | |",
        "|---|--:|--:|--:|--:|--:|---|",
    )
    for test in battery.TESTS:
        these = [result for result in judgements if battery.test_of(result.name) == test]
        if these:
            yield _judgement_row(test, these)
    fits = [result for result in first if isinstance(result, Fit)]
    yield from ("", "| chi-square | statistic | degrees of freedom | p | |", "|---|--:|--:|--:|---|")
    for fit in fits:
        yield f"| {fit.name} | {fit.statistic:.1f} | {fit.freedom} | {fit.p_value:.4f} | {_mark(is_sound(fit))} |"
    rows = [result for result in first if isinstance(result, Row)]
    if rows:
        yield from ("", "| dieharder | results | least p | greatest p | |", "|---|--:|--:|--:|---|")
        for name in dict.fromkeys(row.name for row in rows):
            yield _dieharder_row(name, [row for row in rows if row.name == name])
    yield ""
    yield from _repeated(section)


def _judgement_row(test: str, these: list[Judgement]) -> str:
    worst = min(these, key=lambda result: result.passed - result.least_passed)
    uniformities = [result.uniformity for result in these if result.uniformity is not None]
    least = f"{min(uniformities):.4f}" if uniformities else "—"
    out = sum(1 for result in these if not result.sound)
    text = f"{out} stood out" if out else _mark(sound=True)
    return f"| {test} | {len(these)} | {worst.sequences} | {worst.passed} | {worst.least_passed} | {least} | {text} |"


def _dieharder_row(name: str, these: list[Row]) -> str:
    p_values = [row.p_value for row in these]
    text = ", ".join(f"{row.title} {row.assessment}" for row in these if not row.sound) or "PASSED"
    return f"| {name} | {len(these)} | {min(p_values):.4f} | {max(p_values):.4f} | {text} |"


def _repeated(section: Section) -> Iterator[str]:
    first = len(section.rounds[0])
    if not section.stood_out:
        yield f"None of {first} results stood out."
        return
    yield f"Of {first} results {len(section.stood_out)} stood out and were examined again:"
    yield ""
    for name, times in section.stood_out.items():
        text = "**failed**" if name in section.failed else "sound on a fresh sample"
        yield f"* {name}: stood out in samples: {times}: {text}"


def _tables(found: TableDraws) -> Iterator[str]:
    yield "### The draws of the tables themselves"
    yield ""
    yield (
        f"{found.size:,} bytes of journalled entropy, which are {found.spins:,} spins of 0–36, as one sequence."
        f" A result fails below p = {found.threshold:.2g}."
    )
    yield from ("", "| test | p | |", "|---|--:|---|")
    summary: dict[str, list[float]] = {}
    for name, p in found.p_values.items():
        group = name if name.startswith("chi-square") else battery.test_of(name)
        summary.setdefault(group, []).append(p)
    for group, p_values in summary.items():
        title = f"{group} (least of {len(p_values)})" if len(p_values) > 1 else group
        yield f"| {title} | {min(p_values):.4f} | {_mark(min(p_values) >= found.threshold)} |"


def _mark(sound: bool) -> str:  # noqa: FBT001
    return "sound" if sound else "stood out"
