"""How the replicas of a game share its houses: who may claim which, and who gives one away."""

import math
import zlib
from collections.abc import Iterable, Mapping

# A free house that nobody has claimed for so long is anybody's, whatever his share.
UNCLAIMED_AFTER_S = 1.0


def preferred_order(replica_id: str, placement_ids: Iterable[str]) -> list[str]:
    """Houses as a replica prefers them; each prefers others, so that they seldom claim the same one."""
    return sorted(placement_ids, key=lambda placement_id: zlib.crc32(f"{replica_id} {placement_id}".encode()))


def placements_to_claim(
    replica_id: str, free_since: Mapping[str, float], now: float, *, groups: int, replicas: int, owned: int
) -> list[str]:
    """The free houses that a replica with so many of its own claims now, best first."""
    room = math.ceil(groups / replicas) - owned
    ordered = preferred_order(replica_id, free_since)
    within = ordered[: max(room, 0)]
    beyond = [
        placement_id for placement_id in ordered[len(within) :] if now - free_since[placement_id] >= UNCLAIMED_AFTER_S
    ]
    return within + beyond


def should_give_one(replica_id: str, counts: Mapping[str, int], *, groups: int, unassigned: int) -> bool:
    """Whether a replica gives one more house away, to one that has less than everybody is sure of.

    `counts` says how many houses each replica that takes any has, those of ours excepted that are leaving; these and
    the free ones are still `to_come` to somebody. Only who has most gives, so that not all give at once.
    """
    sure = groups // len(counts)
    missing = sum(max(0, sure - count) for other, count in counts.items() if other != replica_id)
    if unassigned >= missing or counts[replica_id] <= sure:
        return False
    return replica_id == max(counts, key=lambda other: (counts[other], other))
