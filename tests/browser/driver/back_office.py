"""The operator's commands and look-ups over REST, past any browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stack.data_folder import DataFolder
from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from tests.browser.driver.player import Bets, Player
from tests.browser.driver.rest import Json, call
from tests.system.platform import Platform

# The longest that specific rules allow: a test ends windows and results itself, so no machine is too slow for them.
WINDOW_S, RESULT_S = 600, 60
UNHURRIED = {"betting_window_ms": WINDOW_S * 1000, "result_shown_ms": RESULT_S * 1000}


class BackOffice:
    """An operator."""

    def __init__(self, platform: Platform) -> None:
        self._url = platform.url
        self._token = DevelopmentIssuer(DataFolder(platform.data).issuer).token(["operator"], "back-office")

    # -- commands ----------------------------------------------------------------------------------------------------

    def configure_table(self, table_id: str, like: str, name: tuple[str, str], **different: object) -> str:
        """Configures a table like one of the development tables, with what is different; keeps it if it exists."""
        tables = [table for game in GAMES for table in self.tables(game.name)]
        listed = {table["table_id"]: table["configuration"] for table in tables}
        if table_id not in listed:
            words = {"pt": name[0], "en": name[1]}
            body = {"configuration": {**listed[like], "name": words, **different}, "approval_reference": "test"}
            self._post(f"/v1/tables/{table_id}/configurations", body)
        return table_id

    def switch(self, table_id: str, reason: str, *, on: bool) -> None:
        body = {"scope": "SWITCH_SCOPE_TABLE", "table_id": table_id, "enabled": on, "reason": reason}
        self._post("/v1/games/roulette/switches", body)

    def void(self, table_id: str, round_id: str, reason: str) -> None:
        self._post(f"/v1/tables/{table_id}/rounds/{round_id}:void", {"reason": reason})

    def advance_sessions(self, seconds: int) -> None:
        """Moves the session clock forward; tables have another."""
        self._post("/v1/development/sessionClock:advance", {"by_ms": 1000 * seconds})

    def advance_tables(self, seconds: int) -> None:
        """Moves the clock of all tables forward: windows and results that would have ended by then end now.

        Those of every game: a page knows one time of the platform.
        """
        for game in GAMES:
            self._post("/v1/development/tableClock:advance", {"game": game.name, "by_ms": 1000 * seconds})

    def revoke_tokens(self, name: str) -> None:
        self._post("/v1/operator/revocations", {"subject": name, "reason": "test"})

    def deposit(self, name: str, cents: int) -> str:
        """Pays in, and opens the account if need be; returns its id."""
        opened = self._post("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"})
        account: str = opened["balance"]["account_id"]
        self._post(f"/v1/accounts/{account}/deposits", {"amount_cents": cents})
        return account

    def complaint_step(self, reference: str, step: str, text: str) -> None:
        """Takes a step: `review`, `answer` or `close`."""
        self._post(f"/v1/complaints/{reference}:{step}", {"text": text})

    # -- look-ups ----------------------------------------------------------------------------------------------------

    def tables(self, game: str = "roulette") -> list[Json]:
        tables: list[Json] = self._get(f"/v1/games/{game}/tables?page_size=500")["tables"]
        return tables

    def rules(self, table_id: str, language: str) -> str:
        text: str = self._get(f"/v1/tables/{table_id}/rules?language={language}")["text"]
        return text

    def balance(self, name: str, mode: str) -> Json:
        balance: Json = self._get(f"/v1/players/{name}/accounts/{mode}")["balance"]
        return balance

    def rounds(self, name: str) -> list[Json]:
        """Newest first."""
        rounds: list[Json] = self._get(f"/v1/games/roulette/players/{name}/rounds?page_size=500")["rounds"]
        return rounds

    def sessions(self, name: str) -> list[Json]:
        """Newest first."""
        sessions: list[Json] = self._get(f"/v1/players/{name}/sessions?page_size=500")["sessions"]
        return sessions

    def last_session(self, name: str) -> Json:
        """The player's last session, with its summary."""
        return self.session_by_id(self.sessions(name)[0]["session_id"])

    def session_by_id(self, session_id: str) -> Json:
        return self._get(f"/v1/sessions/{session_id}")

    def table(self, table_id: str) -> Json:
        found: Json = self._get(f"/v1/tables/{table_id}")["table"]
        return found

    def tournament(self, tournament_id: str) -> Json:
        found: Json = self._get(f"/v1/tournaments/{tournament_id}")["tournament"]
        return found

    def complaint(self, reference: str) -> Json:
        complaint: Json = self._get(f"/v1/complaints/{reference}")["complaint"]
        return complaint

    def transactions(self, account_id: str) -> list[Json]:
        """Newest first."""
        found: list[Json] = self._get(f"/v1/transactions?account_id={account_id}&page_size=500")["transactions"]
        return found

    def _get(self, path: str) -> Json:
        return call(f"{self._url}{path}", self._token)

    def _post(self, path: str, body: Mapping[str, Any]) -> Json:
        return call(f"{self._url}{path}", self._token, body)


def quick_demo_table(office: BackOffice) -> str:
    """A table for one, for credits, that shows its results for a second."""
    name = ("Roleta francesa breve (demonstração)", "Brief French roulette (demonstration)")
    return office.configure_table("brief-solo-demo", "french-solo-demo", name, result_shown_ms=1000)


def quick_real_table(office: BackOffice) -> str:
    """The same for money."""
    return office.configure_table(
        "brief-solo", "french-solo", ("Roleta francesa breve", "Brief French roulette"), result_shown_ms=1000
    )


def play_rounds(office: BackOffice, player: Player, rounds: int, bets: Bets) -> str:
    """Plays rounds at a table that shows no results; returns the id of the player's own table."""
    name = ("Roleta francesa sem espera", "French roulette without waiting")
    listed = office.configure_table("prompt-solo", "french-solo", name, result_shown_ms=0)
    table = player.enter(listed)["table"]
    own: str = table["table_id"]
    round_id = table["round"]["round_id"]
    for _ in range(rounds):
        player.bet(own, round_id, bets)
        spun = call(f"{player.url}/v1/roulette/tables/{own}:spin", player.token, {"round_id": round_id})
        round_id = spun["next_round_id"]
    return own
