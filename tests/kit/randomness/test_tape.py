"""Tapes: numbers and orders read from entropy without bias, and for ever the same."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations, product
from math import factorial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.kit.randomness.tape import Tape, TapeExhausted


@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.parametrize("n", [1, 2, 6, 37, 38, 52, 128, 255, 256])
def test_every_number_below_n_comes_from_equally_many_bytes(n: int) -> None:
    numbers: Counter[int] = Counter()
    discarded = 0
    for byte in range(256):
        try:
            numbers[Tape(bytes([byte])).below(n)] += 1
        except TapeExhausted:
            discarded += 1
    assert numbers == dict.fromkeys(range(n), 256 // n)
    assert discarded == 256 % n


@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.parametrize("n", [257, 300, 416, 65535, 65536])
def test_every_number_below_n_comes_from_equally_many_pairs_of_bytes(n: int) -> None:
    numbers: Counter[int] = Counter()
    for pair in range(65536):
        try:
            numbers[Tape(pair.to_bytes(2, "big")).below(n)] += 1
        except TapeExhausted:
            continue
    assert numbers == dict.fromkeys(range(n), 65536 // n)


def test_a_number_is_read_as_documented() -> None:
    # 37 * 6 = 222: 0xFF and 0xDE (222) are discarded, 0xDD (221) is 36.
    tape = Tape(bytes([0xFF, 0xDE, 0xDD, 5]))
    assert (tape.below(37), tape.used) == (36, 3)
    # 0x0102 = 258
    assert Tape(b"\x01\x02").below(300) == 258
    assert Tape(b"").below(1) == 0


@pytest.mark.parametrize("n", [0, -1])
def test_there_is_no_number_below_nothing(n: int) -> None:
    with pytest.raises(ValueError, match="There is no number"):
        Tape(b"\x00" * 8).below(n)


@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.parametrize("cards", ["abc", "abcd"])
def test_every_order_comes_from_equally_many_draws(cards: str) -> None:
    """Over all numbers that the shuffle can draw, given as bytes below their limits, each order comes up once."""
    choices = [range(size) for size in range(len(cards), 1, -1)]
    orders = Counter("".join(Tape(bytes(chosen)).shuffled(cards)) for chosen in product(*choices))
    assert orders == {"".join(order): 1 for order in permutations(cards)}
    assert len(orders) == factorial(len(cards))


@pytest.mark.rule("903-B/2015:6.7.2")
def test_every_order_of_three_comes_from_equally_many_bytes() -> None:
    orders: Counter[str] = Counter()
    for first in range(256):
        for second in range(256):
            try:
                orders["".join(Tape(bytes([first, second])).shuffled("abc"))] += 1
            except TapeExhausted:
                continue
    assert orders == {"".join(order): 255 * 256 // 6 for order in permutations("abc")}


@given(st.binary(max_size=300), st.lists(st.integers(1, 70_000), max_size=40))
def test_numbers_stay_below_n_and_bytes_are_read_once_in_order(entropy: bytes, limits: list[int]) -> None:
    tape = Tape(entropy)
    for n in limits:
        before = tape.used
        try:
            number = tape.below(n)
        except TapeExhausted:
            assert tape.used == before
            return
        assert 0 <= number < n
        assert before <= tape.used <= len(entropy)
        # The same bytes alone give the same number.
        assert Tape(entropy[before : tape.used]).below(n) == number


@pytest.mark.rule("903-B/2015:6.7.2")
@given(st.integers(0, 700), st.integers(0, 2**32), st.integers(0, 1_500))
@example(n=65_540, seed=1, length=200_000)
def test_numbers_that_are_read_together_are_those_that_are_read_one_by_one(n: int, seed: int, length: int) -> None:
    entropy = random.Random(seed).randbytes(length)
    together, one_by_one = Tape(entropy), Tape(entropy)
    try:
        expected = [one_by_one.below(size) for size in range(n, 1, -1)]
    except TapeExhausted:
        with pytest.raises(TapeExhausted):
            together.below_each(n)
        return
    assert together.below_each(n) == expected
    assert together.used == one_by_one.used


@given(st.lists(st.integers(), max_size=60), st.integers(0, 2**32))
def test_a_shuffle_loses_nothing_and_leaves_its_input_alone(items: list[int], seed: int) -> None:
    given_items = list(items)
    assert Counter(Tape(random.Random(seed).randbytes(2000)).shuffled(items)) == Counter(items)
    assert items == given_items
