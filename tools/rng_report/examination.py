"""Examines samples, and repeats on fresh ones the tests whose results stood out.

Among hundreds of tests of a perfect source some stand out by chance: with 64 sequences each of NIST's about once in 250
samples. SP 800-22, 4.2, says to examine other samples then, to tell an anomaly from evidence. A result that stands out
in `ROUNDS_LIMIT` independent samples has failed, and so has one that is `IMPOSSIBLE` once; a perfect source fails in
less than one report in a thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from io import BytesIO
from typing import TypeVar

from services.kit.randomness.source import Randomness
from tools.rng_report import battery, dieharder, samples
from tools.rng_report.battery import Judgement
from tools.rng_report.dieharder import Row
from tools.rng_report.samples import Fit, Sample

ROUNDS_LIMIT = 3
# A fit stands out if a perfect source is that far off, or that close, once in five hundred samples.
UNLIKELY = 0.001
# No chance explains a result less likely than this: it fails without another sample.
IMPOSSIBLE = 1e-9

T = TypeVar("T")
Result = Judgement | Fit | Row
LogProgress = Callable[[str], None]


def is_sound(result: Result) -> bool:
    return UNLIKELY <= result.p_value <= 1 - UNLIKELY if isinstance(result, Fit) else result.sound


def is_impossible(result: Result) -> bool:
    if isinstance(result, Judgement):
        return result.likelihood < IMPOSSIBLE
    return min(result.p_value, 1 - result.p_value) < IMPOSSIBLE


def name_of(result: Result) -> str:
    if isinstance(result, Row):
        return f"dieharder {result.title}"
    return f"chi-square of {result.name}" if isinstance(result, Fit) else result.name


@dataclass(frozen=True, slots=True)
class Plan:
    """The size of an examination."""

    sequences: int
    bits: int
    dieharder: bool
    every_dieharder: bool

    @property
    def sample_bytes(self) -> int:
        """The bytes of a sample: those of the sequences, or more if dieharder needs them."""
        return max(self.sequences * self.bits // 8, dieharder.SMALL_SAMPLE_BYTES if self.dieharder else 0)


@dataclass(slots=True)
class Section:
    """The results of one way of drawing."""

    kind: str
    outcomes: int = 0
    rounds: list[dict[str, list[Result]]] = field(default_factory=list)
    """Results by name: first of all tests, then of those that stood out. A test of dieharder has several results."""
    missing: list[str] = field(default_factory=list)
    """What was not examined, with the reason."""

    @property
    def stood_out(self) -> dict[str, int]:
        """The results that stood out at first, and the number of rounds in which they did."""
        return {
            name: sum(1 for each in self.rounds if name in each and _stands_out(each[name])) for name in self._first
        }

    @property
    def _first(self) -> list[str]:
        return [name for name, results in self.rounds[0].items() if _stands_out(results)] if self.rounds else []

    @property
    def failed(self) -> list[str]:
        """The results that further samples did not explain, or could not."""
        return [
            name
            for name, times in self.stood_out.items()
            if times == ROUNDS_LIMIT
            or any(is_impossible(result) for each in self.rounds for result in each.get(name, ()))
        ]


def _stands_out(results: list[Result]) -> bool:
    return not all(map(is_sound, results))


class SampleExaminer:
    """Draws and examines on all processors; `check_conditions` is called again and again, and raises when they end."""

    def __init__(
        self, plan: Plan, pool: Executor, check_conditions: Callable[[], None], log_progress: LogProgress
    ) -> None:
        self._plan = plan
        self._pool = pool
        # All kinds are drawn at once; each is examined in its turn.
        self._first = {kind: self._draw(kind) for kind in samples.DRAW_KINDS}
        self._check_conditions = check_conditions
        self._log_progress = log_progress
        self._names: dict[tuple[int, ...], set[str]] = {}
        """The names of the results of each dieharder test that has run."""

    def examine(self, kind: str) -> Section:
        """Examines one way of drawing, again where a result stands out."""
        section = Section(kind)
        wanted: set[str] | None = None
        for number in range(1, ROUNDS_LIMIT + 1):
            self._log_progress(f"{kind}: {self._plan.sample_bytes:,} bytes (round {number})")
            sample = self._await([self._first[kind] if number == 1 else self._draw(kind)])[0]
            section.outcomes += sample.outcomes
            section.rounds.append(self._round(section, sample, wanted))
            wanted = {name for name, results in section.rounds[-1].items() if _stands_out(results)}
            if not wanted:
                break
            self._log_progress(f"{kind}: stood out: {', '.join(sorted(wanted))}")
        return section

    def _draw(self, kind: str) -> Future[Sample]:
        return self._pool.submit(samples.collect, kind, self._plan.sample_bytes)

    def _round(self, section: Section, sample: Sample, wanted: set[str] | None) -> dict[str, list[Result]]:
        results: list[Result] = [*self._suite(sample, wanted), *sample.fits]
        if self._plan.dieharder:
            try:
                results += self._dieharder(section, sample, wanted)
            except dieharder.Unavailable as error:
                section.missing.append(str(error))
        named: dict[str, list[Result]] = {}
        for result in results:
            if wanted is None or name_of(result) in wanted:
                named.setdefault(name_of(result), []).append(result)
        return named

    def _suite(self, sample: Sample, wanted: set[str] | None) -> list[Judgement]:
        tests = [name for name in battery.TESTS if wanted is None or any(each.startswith(name) for each in wanted)]
        if not tests:
            return []
        self._log_progress(f"  NIST SP 800-22: {len(tests)} tests, {self._plan.sequences} × {self._plan.bits:,} bits")
        texts = samples.sequences(sample.bits, self._plan.bits)[: self._plan.sequences]
        return battery.judge(self._await([self._pool.submit(battery.examine, bits, tests) for bits in texts]))

    def _dieharder(self, section: Section, sample: Sample, wanted: set[str] | None) -> Iterator[Row]:
        if section.kind == "raw bytes":
            randomness = Randomness()
            for test in dieharder.GOOD_TESTS if self._plan.every_dieharder else dieharder.DEFAULT_TESTS:
                yield from self._one(test, randomness.take, (), wanted)
            return
        for number, options in dieharder.SMALL_SAMPLE_TESTS:
            yield from self._one((number,), BytesIO(sample.bits).read, options, wanted)

    def _one(
        self, test: tuple[int, ...], read: Callable[[int], bytes], options: tuple[str, ...], wanted: set[str] | None
    ) -> list[Row]:
        names = self._names.get(test)
        if wanted is not None and names is not None and not names & wanted:
            return []
        self._check_conditions()
        self._log_progress(f"  dieharder -d {' -n '.join(map(str, test))}")
        rows = dieharder.run(test, read, options)
        self._check_conditions()
        self._names[test] = {name_of(row) for row in rows}
        return rows

    def _await(self, futures: list[Future[T]]) -> list[T]:
        pending = set(futures)
        while pending:
            self._check_conditions()
            done, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
        self._check_conditions()
        return [future.result() for future in futures]
