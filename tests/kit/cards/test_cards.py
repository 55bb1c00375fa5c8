"""Tests of cards, packs and shoes."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.cards.card import Card, Rank, Suit, cards_named
from services.kit.cards.shoe import PACK, packs, shoe_from, shuffled_shoe
from services.kit.randomness.tape import Tape


@pytest.mark.rule("812/2015:6.c")
@pytest.mark.rule("805/2015:4.b")
def test_a_pack_has_52_cards_in_four_suits_and_thirteen_ranks() -> None:
    assert len(PACK) == len(set(PACK)) == 52
    assert Counter(card.suit for card in PACK) == dict.fromkeys(Suit, 13)
    assert Counter(card.rank for card in PACK) == dict.fromkeys(Rank, 4)


@pytest.mark.parametrize("card", PACK, ids=lambda card: card.name)
def test_every_card_has_a_name_of_its_own(card: Card) -> None:
    assert Card.named(card.name) == card
    assert sum(other.name == card.name for other in PACK) == 1


@pytest.mark.parametrize("name", ["", "A", "s", "1s", "As ", "as", "AS", "Asd", "10s", "Ax"])
def test_a_name_of_no_card_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is no card"):
        Card.named(name)


def test_cards_are_read_from_their_names() -> None:
    assert cards_named("As Td") == (Card(Rank.ACE, Suit.SPADES), Card(Rank.TEN, Suit.DIAMONDS))


@pytest.mark.parametrize("count", [4, 6, 8])
@given(seed=st.integers(0, 2**64))
def test_g10_a_shoe_has_the_cards_of_its_packs_in_an_order_that_the_entropy_alone_decides(
    count: int, seed: int
) -> None:
    # Rejection takes more bytes than the 1,000 or so of an even shuffle, and hardly ever three times as many.
    entropy = Random(seed).randbytes(3 * 1024)
    shoe = shuffled_shoe(count, Tape(entropy))
    assert Counter(shoe) == Counter(packs(count))
    assert shuffled_shoe(count, Tape(entropy)) == shoe


@pytest.mark.guarantee("G6")
@pytest.mark.parametrize("count", [4, 6, 8])
@given(seed=st.integers(0, 2**64), share=st.floats(0, 1))
def test_g6_a_shoe_that_goes_on_gives_the_rest_of_one_order(count: int, seed: int, share: float) -> None:
    entropy = Random(seed).randbytes(6 * 1024)
    whole, taken = shuffled_shoe(count, Tape(entropy)), int(share * 52 * count)
    first, later = Tape(entropy), Tape(entropy)
    assert shoe_from(0, count, first) == whole
    assert shoe_from(taken, count, later)[: len(whole) - taken] == whole[taken:]
    # Wherever a round begins, the shoe is read from the same bytes.
    assert later.used == first.used


@pytest.mark.guarantee("G6")
@given(seed=st.integers(0, 2**64), taken=st.integers(2, 208))
def test_g6_a_round_that_uses_a_shoe_up_gets_the_cards_of_earlier_rounds_shuffled_anew(seed: int, taken: int) -> None:
    entropy = Random(seed).randbytes(6 * 1024)
    dealt, again = shuffled_shoe(4, Tape(entropy))[:taken], shoe_from(taken, 4, Tape(entropy))[208 - taken :]
    assert Counter(again) == Counter(dealt)
    # In an order of its own: that in which everybody has seen so many would be a wonder.
    assert taken < 20 or again != dealt
