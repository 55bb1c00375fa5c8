"""Records the answers for tests without a platform: `python -m tests.browser.recorded.record`, then commit them."""

from __future__ import annotations

from tests.browser.driver.rest import Json, call
from tests.browser.recorded import answers
from tests.browser.recorded.games import GAMES
from tests.system.platform import Platform, temporary_platform

# Two bets, of which the second is taken back.
_BETS = {"roulette": {"red": 100, "17": 200}, "baccarat": {"banca": 200, "tie": 100}}


def main() -> None:
    """Starts a platform, asks it what a page asks, and writes the answers down."""
    with temporary_platform() as platform:
        platform.start()
        entered = call(f"{platform.url}/v1/demo:enter", "", {})
        tables = [_answers_of_table(platform, entered["token"], table_id) for table_id in answers.TABLES]
        listed = {
            f"TableService.ListTables {game}": call(f"{platform.url}/v1/games/{game}/tables", entered["token"])
            for game in GAMES
        }
        account = call(f"{platform.url}/v1/players/{entered['player_id']}/accounts/MODE_DEMO", entered["token"])
    # Tests have no use for a token, and none belongs into the sources.
    lobby = {
        "GatewayService.EnterDemo": {**entered, "token": "recorded"},
        **listed,
        "WalletService.FindAccount": account,
    }
    answers.write(answers.LOBBY, lobby)
    for table_id, found in zip(answers.TABLES, tables, strict=True):
        answers.write(table_id, found)


def _answers_of_table(platform: Platform, token: str, table_id: str) -> Json:
    entered = call(f"{platform.url}/v1/tables/{table_id}:enter", token, {})
    table, game = entered["table"]["table_id"], GAMES[entered["table"]["configuration"]["game"]]
    address = f"{platform.url}/v1/{game.name}/tables/{table}"
    found: Json = {
        "TableService.EnterTable": entered,
        f"{game.service}.GetLayout": call(f"{address}/layout", token),
    }
    for language in ("pt", "en"):
        rules = call(f"{platform.url}/v1/tables/{table_id}/rules?language={language}", token)
        found[f"TableService.GetRules {language}"] = rules
    placed = [{"place": place, "amount_cents": cents} for place, cents in _BETS[game.name].items()]
    round_id = entered["table"]["round"]["round_id"]
    found[f"{game.service}.PlaceBets"] = call(f"{address}/bets", token, {"round_id": round_id, "bets": placed})
    cancelled = {"round_id": round_id, "bets": placed[1:]}
    found[f"{game.service}.CancelBets"] = call(f"{address}/bets:cancel", token, cancelled)
    started = call(f"{address}:{game.start.lower()}", token, {"round_id": round_id})
    found[f"{game.service}.{game.start}"] = started
    rounds = f"{platform.url}/v1/games/{game.name}/players/{entered['session']['player_id']}/rounds?table_id={table}"
    found["TableService.ListPlayerRounds"] = call(rounds, token)
    return found


if __name__ == "__main__":
    main()
