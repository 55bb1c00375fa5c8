"""Filters of lists: the SQL of those that a request names."""

from collections.abc import Mapping


def where(conditions: Mapping[str, str], wanted: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Joins the conditions whose value is not None, and returns them with their values.

    >>> where({"since": "at >= :since", "until": "at < :until"}, {"since": 5, "until": None})
    ('at >= :since', {'since': 5})
    """
    values = {name: value for name, value in wanted.items() if value is not None}
    return " AND ".join(conditions[name] for name in values) or "true", values
