"""The drawing table of rule 20, cell by cell as the gazette prints it, and the naturals of rule 19."""

from __future__ import annotations

import itertools

import pytest

from services.baccarat.engine import deal, score, value
from services.kit.cards.card import Card, Rank, Suit
from services.kit.cards.shoe import PACK

# Rows: banca's score with two cards. Columns: what ponto's third card counts, 0 to 9, and last "ponto stood".
GAZETTE = {
    0: "DDDDDDDDDDD",
    1: "DDDDDDDDDDD",
    2: "DDDDDDDDDDD",
    3: "DDDDDDDDSDD",
    4: "SSDDDDDDSSD",
    5: "SSSSDDDDSSD",
    6: "SSSSSSDDSSS",
    7: "SSSSSSSSSSS",
}
STOOD = 10
TEN_VALUES = (Rank.TEN, Rank.JACK, Rank.QUEEN, Rank.KING)


def card(counts: int) -> Card:
    """Returns a card that counts so much."""
    return Card(Rank.KING if counts == 0 else Rank(counts), Suit.CLUBS)


def pair_with(points: int) -> tuple[Card, Card]:
    """Returns two cards with this score."""
    return (card(0), card(points))


def dealt(ponto: int, banca: int, fifth: int = 0, sixth: int = 0) -> tuple[int, int]:
    """Deals to sides with these scores; returns how many cards each has in the end."""
    (p1, p2), (b1, b2) = pair_with(ponto), pair_with(banca)
    outcome = deal([p1, b1, p2, b2, card(fifth), card(sixth)])
    return len(outcome.ponto), len(outcome.banca)


@pytest.mark.rule("812/2015:7.a", "812/2015:7.b", "812/2015:7.c")
def test_an_ace_counts_one_tens_and_figures_nothing_others_their_number() -> None:
    assert [value(Card(rank, Suit.HEARTS)) for rank in Rank] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0]


@pytest.mark.rule("812/2015:8")
def test_the_score_is_the_excess_over_ten_or_twenty() -> None:
    for values in itertools.product(range(10), repeat=3):
        total = sum(values)
        excess = total - 20 if total >= 20 else total - 10 if total >= 10 else total
        assert score(map(card, values)) == excess


@pytest.mark.rule("812/2015:19")
@pytest.mark.parametrize("natural", [8, 9])
@pytest.mark.parametrize("other", range(10))
def test_with_8_or_9_on_either_side_neither_receives_another_card(natural: int, other: int) -> None:
    assert dealt(natural, other) == (2, 2)
    assert dealt(other, natural) == (2, 2)


@pytest.mark.rule("812/2015:20", "812/2015:20.T.P")
@pytest.mark.parametrize("ponto", range(8))
@pytest.mark.parametrize("banca", range(8))
def test_ponto_draws_with_0_to_5_and_stands_with_6_and_7(ponto: int, banca: int) -> None:
    assert dealt(ponto, banca)[0] == (3 if ponto <= 5 else 2)


@pytest.mark.rule(
    "812/2015:20",
    "812/2015:20.T.B0",
    "812/2015:20.T.B3",
    "812/2015:20.T.B4",
    "812/2015:20.T.B5",
    "812/2015:20.T.B6",
    "812/2015:20.T.B7",
)
@pytest.mark.parametrize("banca", GAZETTE)
@pytest.mark.parametrize("column", range(STOOD + 1))
def test_banca_draws_as_the_table_of_the_gazette_says(banca: int, column: int) -> None:
    draws = GAZETTE[banca][column] == "D"
    for ponto in (6, 7) if column == STOOD else range(6):
        third = 0 if column == STOOD else column
        assert dealt(ponto, banca, third)[1] == (3 if draws else 2)


@pytest.mark.rule("812/2015:20")
@pytest.mark.parametrize("rank", TEN_VALUES)
def test_the_column_of_ten_is_that_of_every_card_that_counts_nothing(rank: Rank) -> None:
    (p1, p2), (b1, b2) = pair_with(0), pair_with(4)
    assert len(deal([p1, b1, p2, b2, Card(rank, Suit.SPADES), card(5)]).banca) == 2


@pytest.mark.rule("812/2015:16", "812/2015:17")
def test_cards_are_dealt_one_at_a_time_alternately_ponto_first() -> None:
    first, second, third, fourth, fifth, sixth = PACK[0], PACK[9], PACK[1], PACK[10], PACK[20], PACK[22]
    outcome = deal([first, second, third, fourth, fifth, sixth])
    assert outcome.ponto[:2] == (first, third)
    assert outcome.banca[:2] == (second, fourth)
    # Ponto's additional card comes before banca's.
    assert outcome.ponto[2:] == (fifth,)
    assert outcome.banca[2:] == (sixth,)
