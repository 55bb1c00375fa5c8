"""The front desk's process."""

from __future__ import annotations

from aiohttp import web

from services.kit.logs import log_to_stderr
from services.kit.settings import load_or_exit
from stack.front_desk.desk import FrontDesk
from stack.front_desk.settings import FrontDeskSettings

if __name__ == "__main__":
    chosen = load_or_exit(FrontDeskSettings)
    log_to_stderr("info")
    host, _, port = chosen.listen.rpartition(":")
    web.run_app(FrontDesk(chosen).application(), host=host, port=int(port), access_log=None, print=None)
