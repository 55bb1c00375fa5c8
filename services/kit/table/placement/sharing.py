"""Divides the placements of a game among its replicas: which one claims what, and which one gives one away. Pure."""

import math
import zlib
from collections.abc import Iterable, Mapping

# A placement that is free for so long is claimed by any replica, beyond its share, too.
UNCLAIMED_AFTER_S = 1.0


def preferred_order(replica_id: str, placement_ids: Iterable[str]) -> list[str]:
    """Sorts placements by a replica's preference; replicas differ in it, so that they seldom claim the same one."""
    return sorted(placement_ids, key=lambda placement_id: zlib.crc32(f"{replica_id} {placement_id}".encode()))


def placements_to_claim(
    replica_id: str, free_since: Mapping[str, float], now: float, *, placements: int, replicas: int, owned: int
) -> list[str]:
    """Returns the free placements that a replica with `owned` others claims now, preferred ones first."""
    room = math.ceil(placements / replicas) - owned
    ordered = preferred_order(replica_id, free_since)
    within = ordered[: max(room, 0)]
    beyond = [
        placement_id for placement_id in ordered[len(within) :] if now - free_since[placement_id] >= UNCLAIMED_AFTER_S
    ]
    return within + beyond


def should_give_one(replica_id: str, counts: Mapping[str, int], *, placements: int, unassigned: int) -> bool:
    """Whether a replica gives a placement away, because another one has less than its share.

    `counts` has the placements of every active replica, without those that this one is handing over; these and the free
    ones are `unassigned`. Only the replica with most gives, so that not all give at once.
    """
    share = placements // len(counts)
    missing = sum(max(0, share - count) for other, count in counts.items() if other != replica_id)
    if unassigned >= missing or counts[replica_id] <= share:
        return False
    return replica_id == max(counts, key=lambda other: (counts[other], other))
