"""A player over REST, with the player's own token."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page

from stack.data_folder import DataFolder
from stack.issuer import DevelopmentIssuer
from tests.browser.driver.rest import Json, call
from tests.system.platform import Platform

# The chips by place, in cents.
Bets = dict[str, int]


@dataclass(frozen=True, slots=True)
class Player:
    """The player named in the token."""

    url: str
    name: str
    token: str

    @classmethod
    def with_account(cls, platform: Platform, name: str) -> Player:
        """Returns one with a token of the operator's issuer."""
        token = DevelopmentIssuer(DataFolder(platform.data).issuer).token(["player"], name)
        return cls(platform.url, name, token)

    @classmethod
    def demo_player_of(cls, platform: Platform, page: Page) -> Player:
        """Returns the guest that a page plays as."""
        kept = page.evaluate("() => JSON.parse(localStorage.getItem('feltro.guest'))")
        return cls(platform.url, kept["player_id"], kept["token"])

    # -- what is looked up -------------------------------------------------------------------------------------------

    def layout(self, table_id: str) -> Json:
        return self._get(f"/v1/roulette/tables/{table_id}/layout")

    def rules(self, table_id: str, language: str) -> str:
        text: str = self._get(f"/v1/tables/{table_id}/rules?language={language}")["text"]
        return text

    def numbers_of(self, table_id: str, place: str) -> list[str]:
        """The numbers that a place covers."""
        covered: list[str] = next(one for one in self.layout(table_id)["places"] if one["place"] == place)["numbers"]
        return covered

    def table(self, table_id: str) -> Json:
        """The table, and the player's own seat."""
        return self._get(f"/v1/tables/{table_id}")

    def on_felt(self, table_id: str) -> Bets:
        """The player's chips by the platform's account."""
        shown = self.table(table_id)
        own = [bets for bets in shown["table"]["bets"] if bets["seat"] == shown["own_seat"]["seat"]]
        return {bet["place"]: int(bet["amount_cents"]) for bets in own for bet in bets["bets"]["bets"]}

    def balance(self, mode: str) -> tuple[int, int]:
        """The free cents, and those locked on felts."""
        found = self._get(f"/v1/players/{self.name}/accounts/{mode}")["balance"]
        return int(found["free_cents"]), int(found["locked_cents"])

    def rounds(self, table_id: str = "") -> list[Json]:
        """The player's rounds, newest first."""
        asked = f"?table_id={table_id}" if table_id else ""
        rounds: list[Json] = self._get(f"/v1/games/roulette/players/{self.name}/rounds{asked}")["rounds"]
        return rounds

    # -- what the player does ----------------------------------------------------------------------------------------

    def enter(self, table_id: str) -> Json:
        """Sits down; a player who sits there already gets the same seat."""
        return self._post(f"/v1/tables/{table_id}:enter", {})

    def own_table(self, listed_id: str) -> str:
        """The id of the table that is played: at a table for one the player's own."""
        found: str = self.enter(listed_id)["table"]["table_id"]
        return found

    def bet(self, table_id: str, round_id: str, bets: Bets) -> Json:
        placed = [{"place": place, "amount_cents": cents} for place, cents in bets.items()]
        return self._post(f"/v1/roulette/tables/{table_id}/bets", {"round_id": round_id, "bets": placed})

    def leave(self) -> None:
        """Ends the player's sessions: a table where nobody sits rests."""
        self._post(f"/v1/players/{self.name}/sessions:end", {})

    def _get(self, path: str) -> Json:
        return call(self.url + path, self.token)

    def _post(self, path: str, body: Json) -> Json:
        return call(self.url + path, self.token, body)


def results_by_place(played: Json) -> dict[str, tuple[int, int, int]]:
    """By place of a played round: staked, paid back, and the prize within."""
    told: dict[str, tuple[int, int, int]] = {}
    for stake in played["stakes"]:
        for one in stake["results"]["results"]:
            new = (int(one["amount_cents"]), int(one["payout_cents"]), int(one["prize_cents"]))
            before = told.get(one["place"], (0, 0, 0))
            told[one["place"]] = (before[0] + new[0], before[1] + new[1], before[2] + new[2])
    return told
