"""All that a world tells, as bytes: worlds that differ in what is hidden must tell the same."""

from __future__ import annotations

from google.protobuf.message import Message

from services.kit.refusal import Refused
from tests.simulation.environment.world import World


def told(said: object) -> bytes:
    """Returns a message or a refusal as its receiver has it."""
    if isinstance(said, Refused):
        return f"{said.reason} {said.sentence} {sorted(said.facts.items())}".encode()
    assert isinstance(said, Message)
    return said.SerializeToString(deterministic=True)


def told_answers(world: World) -> list[bytes]:
    """Returns the answers to all commands, refusals among them."""
    answers = [answer for command in world.commands for answer in command.answers]
    return [told(answer) for answer in answers if isinstance(answer, Refused | Message)]
