"""Holds the end of a tournament against the reference: every place, and every cent that was paid."""

from __future__ import annotations

from services.poker.tournament.running.orders import Cancelled, Ranked
from services.poker.tournament.running.state import Phase
from tests.engine.poker.tournament import reference
from tests.engine.poker.tournament.simulated import Simulation


def verify(played: Simulation) -> str:
    """Asserts that a tournament ended as the reference says; returns how."""
    offer, log = played.offer(), played.log
    assert played.state.pool_cents == 0
    if played.state.phase is Phase.CANCELLED:
        paragraph = next(order.paragraph for order in played.orders if isinstance(order, Cancelled))
        assert paragraph == reference.letter(offer, log)
        assert played.settled() == reference.cancelled(offer, log)
        return paragraph
    assert played.state.phase is Phase.FINISHED
    left = [entry for entry in log.entries if entry not in log.lost]
    stopped_early = offer.stops_early and len(left) > 1 and not offer.is_timed
    expected = reference.places(log, stopped_early=stopped_early)
    ranked = {
        entry: (order.place.first, order.place.last)
        for order in played.orders
        if isinstance(order, Ranked)
        for entry in order.place.entries
    }
    assert ranked == expected
    assert played.settled() == reference.finished(offer, log)
    verify_complete(played)
    return "timed" if offer.is_timed else "early" if stopped_early else "won"


def verify_complete(played: Simulation) -> None:
    """Asserts that the places are those from the first to the last, each once or shared."""
    places = sorted(order.place for order in played.orders if isinstance(order, Ranked))
    following = 1
    for place in places:
        assert place.first == following
        assert place.last - place.first + 1 == len(place.entries)
        following = place.last + 1
    assert following == len(played.log.entries) + 1
