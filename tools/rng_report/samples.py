"""Draws samples the way the games draw, and turns outcomes into bits without adding or hiding a bias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import factorial

from services.kit.randomness.source import Randomness, draw
from services.kit.randomness.tape import Tape
from tools.rng_report.distributions import chi_square_tail

CARDS = 52
# Of the 52! orders the first 2**225 are used for bits: 67 in 100.
DECK_BITS = 225
# Bytes that are read at once for a sample of raw bytes.
RAW_CHUNK_BYTES = 1024
# Bits are collected as text and packed in pieces of this many characters.
PACK_CHARACTERS = 80_000


@dataclass(frozen=True, slots=True)
class Fit:
    """How well counts of outcomes fit the expected ones (chi-square)."""

    name: str
    statistic: float
    freedom: int

    @property
    def p_value(self) -> float:
        return chi_square_tail(self.statistic, self.freedom)


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample: its bits for the suites, and its counts."""

    bits: bytes
    outcomes: int
    fits: list[Fit]


Collect = Callable[[Randomness, int], Sample]


@dataclass(frozen=True, slots=True)
class DrawKind:
    """A way of drawing."""

    name: str
    description: str
    collect: Collect


def even_fit(name: str, counts: list[int]) -> Fit:
    """The fit to equal counts."""
    expected = sum(counts) / len(counts)
    return Fit(name, sum((count - expected) ** 2 for count in counts) / expected, len(counts) - 1)


def _packed(texts: Iterator[str], size: int) -> bytes:
    """The first `size` bytes of texts of `0` and `1`."""
    packed, pending = bytearray(), ""
    while len(packed) < size:
        pending += next(texts)
        if len(pending) >= PACK_CHARACTERS or len(packed) + len(pending) // 8 >= size:
            whole = len(pending) // 8
            packed += int(pending[: whole * 8] or "0", 2).to_bytes(whole, "big")
            pending = pending[whole * 8 :]
    return bytes(packed[:size])


def raw(randomness: Randomness, size: int) -> Sample:
    """Samples raw bytes."""
    pieces = [randomness.take(RAW_CHUNK_BYTES) for _ in range(-(-size // RAW_CHUNK_BYTES))]
    bits = b"".join(pieces)[:size]
    counts = Counter(bits)
    return Sample(bits, size, [even_fit("each byte", [counts[byte] for byte in range(256)])])


class Numbers:
    """Counts numbers below n and gives the bits of those below a power of two."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._width = n.bit_length() - 1
        self._counts = [0] * n
        self._pairs = [0] * (n * n)
        self._before = -1

    def text(self, number: int) -> str:
        """The bits of a number. All bits are equally likely, because all numbers that give any are."""
        self._counts[number] += 1
        if self._before < 0:
            self._before = number
        else:
            self._pairs[self._before * self._n + number] += 1
            self._before = -1
        return format(number, f"0{self._width}b") if number < 1 << self._width else ""

    def sample(self, bits: bytes) -> Sample:
        fits = [even_fit("each number", self._counts), even_fit("each pair of consecutive numbers", self._pairs)]
        return Sample(bits, sum(self._counts), fits)


def roulette(n: int) -> Collect:
    """Samples spins of a wheel, each drawn on its own."""

    def spin(tape: Tape) -> int:
        return tape.below(n)

    def collect(randomness: Randomness, size: int) -> Sample:
        numbers = Numbers(n)
        texts = iter(lambda: "".join([numbers.text(draw(randomness, spin)[0]) for _ in range(1000)]), None)
        return numbers.sample(_packed(texts, size))

    return collect


def lehmer_rank(order: list[int]) -> int:
    """The number of an order among all orders of its items 0, 1, …, in the order of a dictionary."""
    remaining = sorted(order)
    rank = 0
    for item in order:
        place = remaining.index(item)
        rank = rank * len(remaining) + place
        del remaining[place]
    return rank


def decks(randomness: Randomness, size: int) -> Sample:
    """Samples shuffles of one pack of cards."""
    pack = range(CARDS)
    places = [0] * (CARDS * CARDS)
    openings: Counter[int] = Counter()

    def shuffle(tape: Tape) -> list[int]:
        return tape.shuffled(pack)

    def texts() -> Iterator[str]:
        while True:
            order, _ = draw(randomness, shuffle)
            for place, card in enumerate(order):
                places[place * CARDS + card] += 1
            openings[order[0] * CARDS + order[1]] += 1
            rank = lehmer_rank(order)
            yield format(rank, f"0{DECK_BITS}b") if rank < 1 << DECK_BITS else ""

    bits = _packed(texts(), size)
    shuffles = openings.total()
    table = even_fit("each card in each place", places)
    # Every card is in one place and every place holds one card: that removes degrees of freedom, and makes the rest
    # larger by n / (n - 1).
    by_place = Fit(table.name, table.statistic * (CARDS - 1) / CARDS, (CARDS - 1) ** 2)
    first_two = [openings[first * CARDS + second] for first in pack for second in pack if first != second]
    return Sample(bits, shuffles, [by_place, even_fit("each pair of first two cards", first_two)])


def replayed(entropy: bytes, n: int) -> Sample:
    """The numbers that journalled entropy of many draws made: each draw begins where the one before ended."""
    numbers = Numbers(n)
    tape = Tape(entropy)
    limit = 256 // n * n
    texts = [numbers.text(tape.below(n)) for _ in range(sum(1 for byte in entropy if byte < limit))]
    return numbers.sample(_packed(iter(texts), sum(map(len, texts)) // 8))


DRAW_KINDS = {
    kind.name: kind
    for kind in (
        DrawKind("raw bytes", "bytes as `Randomness.take` hands them out", raw),
        DrawKind(
            "roulette 0–36",
            "spins drawn one by one with `Tape.below(37)`; numbers below 32 give five bits",
            roulette(37),
        ),
        DrawKind(
            "roulette 0–37",
            "spins drawn one by one with `Tape.below(38)`; numbers below 32 give five bits",
            roulette(38),
        ),
        DrawKind(
            "shuffled packs",
            f"{CARDS} cards shuffled with `Tape.shuffled`; the number of the order (Lehmer) gives {DECK_BITS} bits if"
            f" it is below 2**{DECK_BITS}",
            decks,
        ),
    )
}


def collect(kind: str, size: int) -> Sample:
    """A sample of `size` bytes from a source of its own, as every game service has its own."""
    return DRAW_KINDS[kind].collect(Randomness(), size)


def sequences(sample: bytes, length: int) -> list[str]:
    """Texts of `length` bits, a multiple of eight."""
    size = length // 8
    starts = range(0, len(sample) - size + 1, size)
    return [format(int.from_bytes(sample[start : start + size], "big"), f"0{length}b") for start in starts]


assert factorial(CARDS) > 1 << DECK_BITS  # noqa: S101 - a mistyped constant would loop for ever
