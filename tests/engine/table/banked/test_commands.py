"""The commands of a round's players: which of them have no answer yet, and that each acts once."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.refusals import TableRefused


def begin(commands: PlayerCommands, player_id: str, request_id: str, digest: bytes = b"") -> asyncio.Future[str]:
    """Begins a command whose answer is still to come."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    return commands.once(player_id, BetCommand(request_id, digest), lambda: answer)


async def test_a_players_commands_under_way_are_those_without_an_answer_in_their_order() -> None:
    commands = PlayerCommands()
    assert commands.under_way("ana") == []
    first, second, third = (begin(commands, "ana", request_id) for request_id in "123")
    begin(commands, "rui", "1")
    assert commands.under_way("ana") == [first, second, third]
    second.set_result("")
    assert commands.under_way("ana") == [first, third]
    first.set_result("")
    fourth = begin(commands, "ana", "4")
    assert commands.under_way("ana") == [third, fourth]


async def test_commands_are_awaited_with_those_that_come_meanwhile() -> None:
    commands = PlayerCommands()
    first = begin(commands, "ana", "1")
    waiting = asyncio.create_task(commands.wait_until_answered("ana"))
    await asyncio.sleep(0)
    second = begin(commands, "ana", "2")
    first.set_result("")
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    second.set_result("")
    await waiting


@pytest.mark.guarantee("G3")
async def test_g3_a_command_that_was_answered_long_ago_is_not_begun_again() -> None:
    commands = PlayerCommands()
    first = begin(commands, "ana", "1", b"digest")
    first.set_result("")
    for number in range(2, 30):
        begin(commands, "ana", str(number)).set_result("")
    assert begin(commands, "ana", "1", b"digest") is first
    with pytest.raises(TableRefused, match="something else"):
        begin(commands, "ana", "1", b"another")
