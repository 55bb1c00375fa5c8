"""The platform that the tests of this folder share: installed once, from nothing."""

from __future__ import annotations

import os

import pytest

from stack.issuer import DevelopmentIssuer
from tests.cluster.installation import EARLIER, Installation
from tests.cluster.kubernetes import Cluster, folder_of_secrets
from tests.drill.platform.earlier import EarlierRelease


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The dev overlay, applied as docs/kubernetes.md says: of an earlier release, if one is named."""
    home = tmp_path_factory.mktemp("platform")
    revision = os.environ.get(EARLIER)
    earlier = EarlierRelease(revision, home / "earlier") if revision else None
    issuer = DevelopmentIssuer(folder_of_secrets() / "issuer")
    installation = Installation(Cluster(), issuer, os.environ.get("FELTRO_URL", ""), home / "tables", earlier)
    installation.install()
    return installation
