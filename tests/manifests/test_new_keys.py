"""Authorities and signing keys are exchanged in steps; processes of two steps that follow each other work together."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import jwt
import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from services.kit.access.signing_key import SigningKey
from stack.games import GAMES
from tools.kubernetes import generations
from tools.kubernetes.generations import STEPS, WrongStep
from tools.kubernetes.secrets import OVERLAYS, ClusterSecrets, main

Files = Mapping[tuple[str, str], bytes]
SERVICES = ["gateway", "wallet", *(f"game-{game.name}" for game in GAMES)]


def printed(folder: Path, overlay: str) -> Files:
    """Every file of every object, as `make kubernetes-secrets` prints them now."""
    found = {}
    for each in ClusterSecrets(folder, overlay).objects():
        made = cast("dict[str, Any]", each)
        for name, content in made["data"].items():
            is_secret = made["kind"] == "Secret"
            found[made["metadata"]["name"], name] = base64.b64decode(content) if is_secret else content.encode()
    return found


def after_each_step(folder: Path, overlay: str) -> Iterator[Files]:
    yield printed(folder, overlay)
    for step in STEPS.values():
        step(folder)
        yield printed(folder, overlay)


def is_trusted(certificate: bytes, authorities: bytes) -> bool:
    for authority in x509.load_pem_x509_certificates(authorities):
        try:
            x509.load_pem_x509_certificate(certificate).verify_directly_issued_by(authority)
        except (InvalidSignature, ValueError):
            continue
        return True
    return False


def is_verified(private: bytes, published: bytes, folder: Path) -> bool:
    file = folder / "key.pem"
    file.write_bytes(private)
    token = SigningKey.read(file).sign({"sub": "somebody"})
    keys = [jwt.PyJWK(key) for key in json.loads(published)["keys"]]
    named = [key for key in keys if key.key_id == jwt.get_unverified_header(token)["kid"]]
    return any(jwt.decode(token, key.key, ["EdDSA"]) for key in named)


def key_pairs() -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Each signing key, and where its public half is."""
    yield ("gateway", "demo-key.pem"), ("public-keys", "demo.json")
    for game in GAMES:
        yield (f"game-{game.name}", "signing-key.pem"), ("public-keys", f"{game.name}.json")


def certificates(overlay: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Each certificate, and the authorities of somebody who is shown it."""
    for service in SERVICES:
        yield (service, "tls.crt"), ("wallet", "ca.crt")
        yield (service, "tls.crt"), ("nats", "clients-ca.crt")
    yield ("nats", "tls.crt"), ("gateway", "bus-ca.crt")
    yield ("nats", "tls.crt"), ("nats", "bus-ca.crt")
    if overlay == "production":
        yield ("database-wallet-server", "tls.crt"), ("public-keys", "database-ca.crt")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_who_was_restarted_and_who_was_not_yet_accept_each_other_at_every_step(overlay: str, tmp_path: Path) -> None:
    states = list(after_each_step(tmp_path / "secrets", overlay))
    for before, after in pairwise(states):
        for shown, asked in ((before, after), (after, before), (after, after)):
            for certificate, authorities in certificates(overlay):
                assert is_trusted(shown[certificate], asked[authorities]), certificate
            for private, published in key_pairs():
                assert is_verified(shown[private], asked[published], tmp_path), private
            for game in (game.name for game in GAMES if game.hides_cards):
                file = f"game-{game}", "entropy-keys"
                assert shown[file].splitlines()[0] in asked[file].splitlines()


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_in_the_end_nothing_of_before_is_accepted_but_what_unseals_old_rounds(overlay: str, tmp_path: Path) -> None:
    first, *_, last = after_each_step(tmp_path / "secrets", overlay)
    for certificate, authorities in certificates(overlay):
        assert not is_trusted(first[certificate], last[authorities])
    for private, published in key_pairs():
        assert not is_verified(first[private], last[published], tmp_path)
    for game in (game.name for game in GAMES if game.hides_cards):
        file = f"game-{game}", "entropy-keys"
        assert first[file] != last[file]
        assert set(first[file].splitlines()) < set(last[file].splitlines())
    kept = {("nats-passwords", name) for _, name in first if _ == "nats-passwords"}
    kept |= {(f"game-{game.name}", "table-key") for game in GAMES}
    assert all(first[name] == last[name] for name in kept)


def test_steps_in_another_order_are_refused_and_change_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "secrets"
    before = printed(folder, "dev")
    arguments = ["--overlay", "dev", "--folder", str(folder), "--new-keys"]
    assert main([*arguments, "use"]) == 1
    assert "`accept` comes first" in capsys.readouterr().err
    assert printed(folder, "dev") == before
    generations.accept(folder)
    with pytest.raises(WrongStep, match="`use` comes first"):
        generations.refuse(folder)
    accepted = printed(folder, "dev")
    generations.accept(folder)
    assert printed(folder, "dev") == accepted
    generations.use(folder)
    with pytest.raises(WrongStep, match="`refuse` comes first"):
        generations.accept(folder)


def test_a_step_that_was_interrupted_goes_on_when_it_is_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    printed(folder, "dev")
    generations.accept(folder)
    accepted = printed(folder, "dev")
    # As far as it came: one authority has changed places, the other has left its own.
    (folder / "previous").mkdir()
    (folder / "issuer").rename(folder / "previous" / "issuer")
    (folder / "next" / "issuer").rename(folder / "issuer")
    (folder / "bus-authority").rename(folder / "previous" / "bus-authority")
    generations.use(folder)
    used = printed(folder, "dev")
    assert not (folder / "next").exists()
    for certificate, authorities in certificates("dev"):
        assert is_trusted(used[certificate], accepted[authorities])
        assert is_trusted(accepted[certificate], used[authorities])
