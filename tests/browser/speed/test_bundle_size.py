"""The size of what a browser has to fetch before the player can play."""

from __future__ import annotations

from tests.system.platform import Platform
from tools import web

# Five games and the tournaments with their tickets; every kilobyte more wants a reason.
LIMIT_BYTES = 208 * 1024


def test_everything_together_is_small(platform: Platform) -> None:
    """Scripts and styles, as the gateway serves them to a browser that takes gzip."""
    fetched = [path for path in (web.BUILT_WEB / "assets").iterdir() if path.suffix in {".js", ".css"}]
    assert fetched
    packed = [path.with_name(f"{path.name}.gz") for path in fetched]
    assert sum(path.stat().st_size for path in packed) <= LIMIT_BYTES
