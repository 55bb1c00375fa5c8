"""The private views that tables have told players, as a bus that loses none would deliver them."""

from __future__ import annotations

from feltro.table.v1 import events_pb2


class ToldOwnViews:
    """Keeps every private view with its player."""

    def __init__(self) -> None:
        self.by_player: dict[str, list[events_pb2.OwnViewChanged]] = {}

    def publish(self, changed: events_pb2.OwnViewChanged) -> None:
        self.by_player.setdefault(changed.player_id, []).append(changed)
