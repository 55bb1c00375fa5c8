"""The numbers of the rules in each regulation: the same rules count differently, since 807/2015 inserts 8 and 15."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Articles:
    """The rule numbers of one regulation that a refusal may cite."""

    regulation: str
    features: int
    bets: int
    combinations: int
    minimum: int
    maximum: int
    options: int
    prizes: int
    # Only the French text allows call bets (T17).
    call_bets: int | None

    def cite(self, rule: int, paragraph: str = "") -> str:
        """Returns the id of a rule, such as `804/2015:13.a.i`."""
        return f"{self.regulation}:{rule}.{paragraph}" if paragraph else f"{self.regulation}:{rule}"


#                    regulation, 6, 7, 9/10, 10/11, 11/12, 12/13, 13/14, -/8
AMERICAN = Articles("804/2015", 6, 7, 9, 10, 11, 12, 13, None)
FRENCH = Articles("807/2015", 6, 7, 10, 11, 12, 13, 14, 8)
