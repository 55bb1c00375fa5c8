"""`python -m stack.operator_site`: serves the site until it is stopped."""

from __future__ import annotations

from aiohttp import web

from services.kit.settings import load_or_exit
from services.kit.telemetry.logs import log_to_stderr
from stack.operator_site.routes import OperatorSite
from stack.operator_site.settings import OperatorSiteSettings

if __name__ == "__main__":
    chosen = load_or_exit(OperatorSiteSettings)
    log_to_stderr("info")
    host, _, port = chosen.listen.rpartition(":")
    web.run_app(OperatorSite(chosen).application(), host=host, port=int(port), access_log=None, print=None)
