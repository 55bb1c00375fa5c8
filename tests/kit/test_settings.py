"""Wrong settings: the sentence helps to correct them, and reveals no password."""

from __future__ import annotations

import pytest
from pydantic import NatsDsn, PostgresDsn

from services.kit.settings import ServiceSettings, WrongSettings, load

SECRET = "s3cret"  # noqa: S105 - of this test only


class Settings(ServiceSettings):
    """The settings of a service with a database."""

    database_url: PostgresDsn
    nats_url: NatsDsn


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize(
    ("variable", "value", "shown"),
    [
        ("FELTRO_DATABASE_URL", f"postgre://feltro:{SECRET}@127.0.0.1:5432/db", "'postgre://…@127.0.0.1:5432/db'"),
        ("FELTRO_DATABASE_URL", f"postgresql//feltro:{SECRET}@127.0.0.1/db", "'postgresql//…@127.0.0.1/db'"),
        ("FELTRO_DATABASE_URL", f"feltro:{SECRET}@127.0.0.1/db", "'…@127.0.0.1/db'"),
        # The slash is not escaped.
        ("FELTRO_DATABASE_URL", f"postgre://feltro:p@ss/{SECRET}@127.0.0.1/db", "'postgre://…@127.0.0.1/db'"),
        # The @ is missing.
        ("FELTRO_DATABASE_URL", f"postgresql://feltro:{SECRET}/db", ""),
        ("FELTRO_DATABASE_URL", f"mysql://127.0.0.1/db?user=feltro&password={SECRET}", "&password=…'"),
        ("FELTRO_NATS_URL", f"nat://feltro:{SECRET}@127.0.0.1", "'nat://…@127.0.0.1'"),
    ],
)
def test_a_wrong_address_is_repeated_without_its_password(
    variable: str, value: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FELTRO_DATABASE_URL", "postgresql://feltro@127.0.0.1/db")
    monkeypatch.setenv("FELTRO_NATS_URL", "nats://127.0.0.1")
    monkeypatch.setenv(variable, value)
    with pytest.raises(WrongSettings) as refused:
        load(Settings)
    assert str(refused.value).startswith(f"{variable} ")
    assert shown in str(refused.value)
    assert SECRET not in str(refused.value)
