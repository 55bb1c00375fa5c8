"""The report detects bad sources, forgives chance, and is never called complete when something was left out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import permutations
from math import factorial
from pathlib import Path

import pytest

from services.kit.randomness.source import Randomness, draw
from services.kit.randomness.tape import Tape
from tools.rng_report import battery, samples, table_draws
from tools.rng_report.dieharder import Row
from tools.rng_report.examination import Plan, SampleExaminer, Section
from tools.rng_report.load import Load, LoadFailed
from tools.rng_report.report import Conditions, markdown, verdict
from tools.rng_report.samples import DrawKind, Fit, Sample

PLAN = Plan(sequences=60, bits=2048, dieharder=False, every_dieharder=False)


@pytest.fixture
def pool() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def examine(pool: Executor, monkeypatch: pytest.MonkeyPatch, collect: samples.Collect) -> Section:
    kind = DrawKind("raw bytes", "of a test", collect)
    monkeypatch.setattr(samples, "DRAW_KINDS", {kind.name: kind})
    return SampleExaminer(PLAN, pool, lambda: None, lambda _: None).examine(kind.name)


def sample_of(bits: bytes) -> Sample:
    return Sample(bits, len(bits), [])


def test_a_good_source_is_sound(pool: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    section = examine(pool, monkeypatch, lambda _, size: sample_of(chance.randbytes(size)))
    assert len(section.rounds[0]) >= 8
    assert not section.failed


def test_a_source_with_a_slight_bias_fails_at_once(pool: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(6)

    def more_ones(_: Randomness, size: int) -> Sample:
        return sample_of(
            bytes(chance.getrandbits(8) | (chance.getrandbits(8) & chance.getrandbits(8)) for _ in range(size))
        )

    section = examine(pool, monkeypatch, more_ones)
    assert "Frequency" in section.failed


def test_chance_is_forgiven_on_a_fresh_sample_and_persistence_is_not(
    pool: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    fits = iter([("once", 0), ("again", 0), ("once", 1), ("again", 0), ("once", 1), ("again", 0)])

    def collect(_: Randomness, size: int) -> Sample:
        # With 10 degrees of freedom 30 comes by chance once in a thousand, 10 half of the time.
        drawn = [next(fits), next(fits)]
        return Sample(chance.randbytes(size), size, [Fit(name, 10.0 if good else 31.0, 10) for name, good in drawn])

    section = examine(pool, monkeypatch, collect)
    assert section.stood_out == {"chi-square of once": 1, "chi-square of again": 3}
    assert section.failed == ["chi-square of again"]
    conditions = Conditions("Without load", "", [section])
    assert verdict([conditions]) == "FAILED"
    assert "failed: raw bytes: chi-square of again" in markdown(datetime.now(UTC), "", PLAN, [conditions])


def test_a_result_beyond_chance_fails_without_another_sample() -> None:
    rows: list[dict[str, list[object]]] = [{"x": [Row("x", 0, 0.0, "FAILED")], "y": [Row("y", 0, 1e-5, "WEAK")]}, {}]
    section = Section("raw bytes", rounds=rows)  # type: ignore[arg-type]
    assert section.failed == ["x"]


def test_a_report_with_something_left_out_is_incomplete() -> None:
    assert verdict([Conditions("Without load", "")]) == "PASSED"
    assert verdict([Conditions("Without load", "", missing=["dieharder is not installed"])]) == "INCOMPLETE"
    assert verdict([Conditions("Without load", "", [Section("raw bytes", missing=["dieharder"])])]) == "INCOMPLETE"


def test_the_fewest_passed_sequences_follow_the_standard() -> None:
    # 4.2.1: of a thousand sequences 980.56 have to pass.
    assert battery.least_passed(1000) == 981
    assert (battery.least_passed(100), battery.least_passed(64)) == (96, 61)
    # By three standard deviations none of seven might fail; of seven perfect ones one does often enough.
    assert battery.least_passed(7) == 6


def test_an_uneven_spread_of_p_values_stands_out() -> None:
    even = battery.judge([{"even": index / 100, "high": 0.5 + index / 200} for index in range(100)])
    assert [judgement.sound for judgement in even] == [True, False]


def test_each_order_has_a_number_of_its_own() -> None:
    ranks = [samples.lehmer_rank(list(order)) for order in permutations(range(5))]
    assert ranks == list(range(factorial(5)))


@pytest.mark.rule("GLI-19 3.3")
@pytest.mark.parametrize("kind", ["roulette 0–36", "roulette 0–37", "shuffled packs"])
def test_final_outcomes_fit(kind: str) -> None:
    """With a small sample, for time; `make rng-report` takes large ones."""
    sample = samples.collect(kind, 40_000)
    assert len(sample.bits) == 40_000
    assert sample.outcomes > 1000
    assert [fit.name for fit in sample.fits if fit.p_value < 1e-9] == []


@pytest.mark.rule("903-B/2015:6.7.2")
def test_the_tables_numbers_can_be_drawn_again_from_their_entropy(tmp_path: Path) -> None:
    chance = Randomness(random.Random(8).randbytes)
    file = tmp_path / "draws"
    numbers: Counter[int] = Counter()
    with file.open("ab") as draws:
        for _ in range(20_000):
            number, used = draw(chance, lambda tape: tape.below(37))
            numbers[number] += 1
            draws.write(used)
    found = table_draws.examine(file.read_bytes())
    assert found.spins == 20_000
    assert found.failed == []
    assert Tape(file.read_bytes()).below(37) in numbers
    counted = samples.even_fit("each number", [numbers[number] for number in range(37)])
    assert found.p_values["chi-square of each number"] == counted.p_value


def test_a_load_that_fails_or_ends_at_once_is_refused() -> None:
    for command, message in (
        (["false"], "ended with 1"),
        (["true"], "that is no load"),
        (["no-such-load"], "cannot be"),
    ):
        # Reported long before the minute of warming up is over.
        load = Load(command, 60.0)
        with pytest.raises(LoadFailed, match=message):
            load.start()
        load.stop()
