"""`make replay`: `feltro replay` on the journals and the ledger of the platform that runs on this machine."""

from __future__ import annotations

import os
import sys

from services.kit.settings import load_or_exit
from services.kit.table.journal.replay import command as replay_command
from stack.data_folder import DataFolder
from stack.entropy_keys import entropy_keys
from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from stack.servers.postgres import EmbeddedPostgres
from stack.settings import LOOPBACK, StackSettings


def main(argv: list[str]) -> int:
    """Replays; the arguments are those of `feltro replay`."""
    settings = load_or_exit(StackSettings)
    folder = DataFolder(settings.data)
    postgres = EmbeddedPostgres(folder.postgres, settings.postgres_port)
    if not postgres.ready():
        print("The platform is not running here: start it with `make run`, then replay its rounds.", file=sys.stderr)
        return replay_command.NOT_CHECKED
    os.environ |= {
        "FELTRO_ENVIRONMENT": "development",
        "FELTRO_WALLET_ADDRESS": f"{LOOPBACK}:{settings.wallet_port}",
    }
    issuer = DevelopmentIssuer(folder.issuer)
    for game in GAMES:
        os.environ |= {
            game.variable("DATABASE_URL"): postgres.url(game.database, game.database),
            game.variable("SIGNING_KEY"): str(issuer.game_keys(game.name).key_file),
        }
    os.environ |= entropy_keys(folder.keys)
    return replay_command.command(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
