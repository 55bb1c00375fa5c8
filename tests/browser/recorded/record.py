"""Records the answers for tests without a platform: `python -m tests.browser.recorded.record`, then commit them."""

from __future__ import annotations

from tests.browser.driver.rest import Json, call
from tests.browser.recorded import answers
from tests.system.platform import Platform, temporary_platform


def main() -> None:
    """Starts a platform, asks it what a page asks, and writes the answers down."""
    with temporary_platform() as platform:
        platform.start()
        entered = call(f"{platform.url}/v1/demo:enter", "", {})
        tables = [_answers_of_table(platform, entered["token"], table_id) for table_id in answers.TABLES]
        listed = call(f"{platform.url}/v1/games/roulette/tables", entered["token"])
        account = call(f"{platform.url}/v1/players/{entered['player_id']}/accounts/MODE_DEMO", entered["token"])
    # Tests have no use for a token, and none belongs into the sources.
    lobby = {
        "GatewayService.EnterDemo": {**entered, "token": "recorded"},
        "TableService.ListTables": listed,
        "WalletService.FindAccount": account,
    }
    answers.write(answers.LOBBY, lobby)
    for table_id, found in zip(answers.TABLES, tables, strict=True):
        answers.write(table_id, found)


def _answers_of_table(platform: Platform, token: str, table_id: str) -> Json:
    entered = call(f"{platform.url}/v1/tables/{table_id}:enter", token, {})
    table = entered["table"]["table_id"]
    found: Json = {
        "TableService.EnterTable": entered,
        "RouletteService.GetLayout": call(f"{platform.url}/v1/roulette/tables/{table}/layout", token),
    }
    for language in ("pt", "en"):
        rules = call(f"{platform.url}/v1/tables/{table_id}/rules?language={language}", token)
        found[f"TableService.GetRules {language}"] = rules
    bets = {"red": 100, "17": 200}
    placed = [{"place": place, "amount_cents": cents} for place, cents in bets.items()]
    round_id = entered["table"]["round"]["round_id"]
    address = f"{platform.url}/v1/roulette/tables/{table}"
    found["RouletteService.PlaceBets"] = call(f"{address}/bets", token, {"round_id": round_id, "bets": placed})
    cancelled = {"round_id": round_id, "bets": placed[1:]}
    found["RouletteService.CancelBets"] = call(f"{address}/bets:cancel", token, cancelled)
    found["RouletteService.Spin"] = call(f"{address}:spin", token, {"round_id": round_id})
    rounds = f"{platform.url}/v1/games/roulette/players/{entered['session']['player_id']}/rounds?table_id={table}"
    found["TableService.ListPlayerRounds"] = call(rounds, token)
    return found


if __name__ == "__main__":
    main()
