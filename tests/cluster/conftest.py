"""The platform that the tests of this folder share: installed once, from nothing."""

from __future__ import annotations

import os

import pytest

from stack.issuer import DevelopmentIssuer
from stack.settings import ROOT
from tests.cluster.installation import Installation
from tests.cluster.kubernetes import Cluster, folder_of_secrets


@pytest.fixture(scope="session")
def platform() -> Installation:
    """The dev overlay, applied as docs/kubernetes.md says, with all its pods ready."""
    url = os.environ.get("FELTRO_URL", "")
    issuer = DevelopmentIssuer(folder_of_secrets() / "issuer")
    installation = Installation(Cluster(), issuer, url, ROOT / "stack" / "tables")
    installation.install()
    return installation
