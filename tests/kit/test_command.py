"""The `feltro` command: it runs what packages have registered, and names no service itself."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from services.kit import command

NAME, MODULE = "greet", __name__


def greet(arguments: list[str]) -> int:
    """Greets, for this test.

    What follows the first line is not for the usage.
    """
    print(f"hello {' '.join(arguments)}")
    return 3


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint(NAME, f"{MODULE}:greet", command.COMMANDS_GROUP),
        EntryPoint("elsewhere", "feltro_of_another_image:command", command.COMMANDS_GROUP),
    ]
    monkeypatch.setattr(command, "entry_points", lambda *, group: points if group == command.COMMANDS_GROUP else [])


@pytest.mark.usefixtures("registered")
def test_a_registered_command_gets_its_arguments_and_gives_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([NAME, "a", "b"]) == 3
    assert capsys.readouterr().out == "hello a b\n"


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["--help"], 0), (["help"], 0)])
def test_the_usage_describes_each_command(
    arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == status
    assert capsys.readouterr().out.splitlines()[2:] == [
        "  elsewhere         (not installed here)",
        "  greet             Greets, for this test.",
    ]


@pytest.mark.usefixtures("registered")
def test_an_unknown_command_is_refused_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["dance"]) == 2
    assert "there is no command 'dance'" in capsys.readouterr().err


@pytest.mark.usefixtures("registered")
def test_a_command_of_another_image_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["elsewhere"]) == 1
    assert "'elsewhere' is not installed here (feltro_of_another_image is missing)" in capsys.readouterr().err


def test_the_installed_package_registers_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    usage = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in usage] == [
        "audit",
        "call",
        "health",
        "migrate",
        "nats-permissions",
        "replay",
        "run",
        "token",
    ]
    assert not [line for line in usage if "not installed here" in line]
