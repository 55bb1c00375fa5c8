"""Tests of the template for rules that players read: conditions, and how each language writes numbers."""

from __future__ import annotations

import pytest

from services.kit.table.configuration.rules_template import ENGLISH, PORTUGUESE, fill, language_of


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"multi": True, "invite": True}, "both\n"),
        ({"multi": True, "invite": False}, "not invited\n"),
        ({"multi": False, "invite": True}, "always\n"),
    ],
)
def test_parts_are_kept_if_all_their_conditions_hold(conditions: dict[str, bool], expected: str) -> None:
    text = "\n".join(
        [
            *("<!-- if multi invite -->", "both", "<!-- end -->"),
            *("<!-- if multi not invite -->", "not invited", "<!-- end -->"),
            *("<!-- if not multi -->", "always", "<!-- end -->"),
        ]
    )

    assert fill(text, conditions, {}) == expected


def test_an_unknown_value_is_an_error_and_not_left_in_the_text() -> None:
    with pytest.raises(KeyError, match="minimum"):
        fill("At least $minimum.", {}, {})


@pytest.mark.rule("903-B/2015:6.1.6")
def test_a_language_without_a_text_becomes_portuguese() -> None:
    assert [language_of(requested) for requested in ("en-GB", "PT", "fr", "")] == [
        ENGLISH,
        PORTUGUESE,
        PORTUGUESE,
        PORTUGUESE,
    ]


@pytest.mark.parametrize(
    ("cents", "portuguese", "english"),
    [
        (5, "0,05 €", "€0.05"),
        (100, "1,00 €", "€1.00"),
        (1_234_56, "1234,56 €", "€1,234.56"),
        (12_345_67, "12\u00a0345,67 €", "€12,345.67"),
        (1_000_000_00, "1\u00a0000\u00a0000,00 €", "€1,000,000.00"),
    ],
)
def test_amounts_are_written_as_the_language_does(cents: int, portuguese: str, english: str) -> None:
    assert (PORTUGUESE.euros(cents), ENGLISH.euros(cents)) == (portuguese, english)


@pytest.mark.parametrize(
    ("milliseconds", "portuguese", "english"),
    [
        (1_000, "1 segundo", "1 second"),
        (3_500, "3,5 segundos", "3.5 seconds"),
        (25_000, "25 segundos", "25 seconds"),
        (60_000, "1 minuto", "1 minute"),
        (90_000, "90 segundos", "90 seconds"),
        (600_000, "10 minutos", "10 minutes"),
    ],
)
def test_durations_are_written_as_the_language_does(milliseconds: int, portuguese: str, english: str) -> None:
    assert (PORTUGUESE.duration(milliseconds), ENGLISH.duration(milliseconds)) == (portuguese, english)
