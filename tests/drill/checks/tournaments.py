"""Checks that every tournament has ended, and that each entry was paid for once and every cent of it was paid out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.drill.checks.feed import Json
from tests.drill.checks.findings import Check

FINISHED, CANCELLED, WITHDRAWN = "TOURNAMENT_PHASE_FINISHED", "TOURNAMENT_PHASE_CANCELLED", "ENTRY_STANDING_WITHDRAWN"
REGISTERING = "TOURNAMENT_PHASE_REGISTERING"


@dataclass(frozen=True, slots=True)
class PlayedTournament:
    """What the platform tells of a tournament afterwards."""

    report: Json
    players: Sequence[Json]

    @property
    def name(self) -> str:
        return str(self.report["tournament"]["tournament_id"])

    @property
    def entries(self) -> list[str]:
        """The players of the entries that were not taken back."""
        return [str(each["player_id"]) for each in self.players if each["standing"] != WITHDRAWN]


def check_tournaments(
    played: Iterable[PlayedTournament],
    acknowledged: Mapping[str, Iterable[str]],
    prices: tuple[int, int],
    balances: Mapping[str, tuple[int, int]],
) -> Check:
    """Compares entries that were acknowledged, by tournament, with what was taken and paid.

    `prices` are the prize's and the fee's share of an entry; `balances` what each player began with, and has now.
    """
    check = Check("every entry is paid for once, and every tournament pays out all that it took", "G1, G3, G4")
    check.unit = "tournaments"
    prize_cents, fee_cents = prices
    expected = {player: began for player, (began, _) in balances.items()}
    for each in played:
        check.looked_at += 1
        phase, entries = each.report["tournament"]["phase"], each.entries
        asked = sorted(acknowledged.get(each.name, ()))
        if sorted(entries) != asked:
            check.violate(f"{each.name} has the entries {sorted(entries)}; acknowledged were {asked}")
        if phase not in {FINISHED, CANCELLED} and not (phase == REGISTERING and not entries):
            check.violate(f"{each.name} has not ended: {phase}")
        won = {str(player["player_id"]): int(player.get("prize_cents") or 0) for player in each.players}
        if phase == FINISHED and sum(won.values()) != prize_cents * len(entries):
            check.violate(f"{each.name} paid {won}; its {len(entries)} entries brought {prize_cents} cents each")
        if int(each.report.get("pool_cents") or 0):
            check.violate(f"{each.name} keeps {each.report['pool_cents']} cents in its pool")
        if phase == FINISHED:
            for player in entries:
                expected[player] += won[player] - prize_cents - fee_cents
    for player, (_, now) in balances.items():
        if now != expected[player]:
            check.violate(f"{player} has {now} cents; by the tournaments it is {expected[player]}")
    return check
