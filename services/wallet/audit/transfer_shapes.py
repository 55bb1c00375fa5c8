"""What each kind of transfer may move between which accounts, and the statement that finds transfers that differ.

The shapes are those that `ledger/` posts: a new posting there needs its line here. Another check shows that the entries
of a transfer sum to zero (G1), so where two sides move, one gets what the other loses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.wallet.model.state import AccountKind, Mode, Pocket, TransferKind


@dataclass(frozen=True, slots=True)
class Side:
    """Money that comes to one part of an account of some kind, or leaves it."""

    account: AccountKind
    pocket: Pocket
    outgoing: bool

    @property
    def bit(self) -> int:
        """The bit of this side, as `MISSHAPEN_TRANSFERS` computes it."""
        return 1 << ((self.account - 1) * 4 + (self.pocket - 1) * 2 + self.outgoing)

    @property
    def label(self) -> str:
        locked = " locked" if self.pocket is Pocket.LOCKED else ""
        return f"{self.account.name.lower()}{locked} {'-' if self.outgoing else '+'}"


def _sides(account: AccountKind, pocket: Pocket = Pocket.FREE) -> tuple[Side, Side]:
    return Side(account, pocket, outgoing=False), Side(account, pocket, outgoing=True)


_PLAYER_GETS, _PLAYER_GIVES = _sides(AccountKind.PLAYER)
_IS_LOCKED, _IS_UNLOCKED = _sides(AccountKind.PLAYER, Pocket.LOCKED)
_OPERATOR_GETS, _OPERATOR_GIVES = _sides(AccountKind.OPERATOR)
_BANK_GETS, _BANK_GIVES = _sides(AccountKind.BANK)
_CAVE_GETS, _CAVE_GIVES = _sides(AccountKind.CAVE)
_POOL_GETS, _POOL_GIVES = _sides(AccountKind.POOL)
_TICKETS_GET, _TICKETS_GIVE = _sides(AccountKind.TICKETS)


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of transfers of one kind. With `one_player` all accounts are one player's, those of tables excepted."""

    kind: TransferKind
    name: str
    required: Sequence[Side]
    optional: Sequence[Side] = ()
    one_player: bool = False
    in_round: bool = False
    # Tickets are for another tournament than the one that awards them.
    joins_tables: bool = False

    @property
    def required_bits(self) -> int:
        return sum(side.bit for side in self.required)

    @property
    def allowed_bits(self) -> int:
        return self.required_bits + sum(side.bit for side in self.optional)

    @property
    def description(self) -> str:
        may = f", and may move {', '.join(side.label for side in self.optional)}" if self.optional else ""
        return f"{self.name} moves {', '.join(side.label for side in self.required) or 'something'}{may}"


# What is required where stakes are paid, and what else may move.
_PAYMENT = (_IS_UNLOCKED,), (_PLAYER_GETS, _BANK_GETS, _BANK_GIVES)
SHAPES = (
    Shape(TransferKind.DEPOSIT, "a deposit", (_PLAYER_GETS, _OPERATOR_GIVES), one_player=True),
    Shape(TransferKind.WITHDRAWAL, "a withdrawal", (_PLAYER_GIVES, _OPERATOR_GETS), one_player=True),
    Shape(TransferKind.STAKE, "a stake", (_PLAYER_GIVES, _IS_LOCKED), one_player=True, in_round=True),
    Shape(
        TransferKind.STAKE_CANCELLED, "a cancelled stake", (_PLAYER_GETS, _IS_UNLOCKED), one_player=True, in_round=True
    ),
    # `stakes-and-entries` checks how much each player gets.
    Shape(TransferKind.ROUND_SETTLED, "a settled round", *_PAYMENT, in_round=True),
    Shape(TransferKind.ROUND_VOID, "a void round", (_PLAYER_GETS, _IS_UNLOCKED), in_round=True),
    # The bank gets commission (`806/2015:17.b`).
    Shape(TransferKind.BUY_IN, "a buy-in", (_PLAYER_GIVES, _CAVE_GETS), (_BANK_GETS,), one_player=True),
    Shape(TransferKind.CASH_OUT, "a cash-out", (_PLAYER_GETS, _CAVE_GIVES), one_player=True),
    # The game decides who wins, among the caves of the table.
    Shape(TransferKind.HAND, "a hand", (_CAVE_GIVES,), (_CAVE_GETS, _BANK_GETS), in_round=True),
    # `paid-stakes` checks how much each player gets.
    Shape(TransferKind.STAKES_PAID, "a payment of stakes", *_PAYMENT, in_round=True),
    # The bank gets the fee. `pay-ins` and `awards` check how much each side gets, and in which tournament.
    Shape(TransferKind.TOURNAMENT_PAID_IN, "a pay-in", (_PLAYER_GIVES, _POOL_GETS), (_BANK_GETS,), one_player=True),
    # The bank gives fees back, and adds to guaranteed prizes and to cancellations. A prize may be a ticket: its value
    # goes to the tickets of another tournament, or to its bank if the ticket is void, as `ticket-transfers` checks.
    Shape(
        TransferKind.TOURNAMENT_PAID_OUT,
        "a payment of a tournament",
        (),
        (_PLAYER_GETS, _POOL_GIVES, _BANK_GIVES, _TICKETS_GET, _BANK_GETS),
        joins_tables=True,
    ),
    Shape(TransferKind.TICKET_USED, "a pay-in by ticket", (_TICKETS_GIVE, _POOL_GETS), (_BANK_GETS,)),
    # Reimbursed, lapsed, or replaced by tickets to another tournament.
    Shape(
        TransferKind.TICKETS_SETTLED,
        "a settlement of tickets",
        (_TICKETS_GIVE,),
        (_PLAYER_GETS, _BANK_GETS, _TICKETS_GET),
        joins_tables=True,
    ),
)

_EVERY_SIDE = [Side(account, pocket, out) for account in AccountKind for pocket in Pocket for out in (False, True)]
_MOVED_LABELS = ", ".join(f"CASE WHEN moved & {side.bit} <> 0 THEN '{side.label}' END" for side in _EVERY_SIDE)
_SHAPE_ROWS = ", ".join(
    f"({s.kind.value}, '{s.name}', '{s.description}', {s.required_bits}, {s.allowed_bits},"
    f" {s.one_player}, {s.in_round}, {s.joins_tables})"
    for s in SHAPES
)

# One pass over the entries, as for their sums. Operator accounts and caves belong to their owner, banks and pools to no
# player. Banks, caves and pools are at their table; so are an entry whose session and a transfer whose round is there.
MISSHAPEN_TRANSFERS = f"""
SELECT format('Transfer %s (request %s), %s: %s.', transfer_no, request_id, name, differs)
FROM (
    SELECT transfer_no, t.request_id, k.name, concat_ws('; ',
        CASE WHEN moved & ~allowed <> 0 OR moved & needed <> needed
             THEN format('it moved %s, but %s', concat_ws(', ', {_MOVED_LABELS}), says) END,
        CASE WHEN one_player AND first_player <> last_player
             THEN format('it is between accounts %s and %s, two players''', first_player, last_player) END,
        CASE WHEN NOT joins_tables AND least(first_table, r.table_no) <> greatest(last_table, r.table_no)
             THEN format('it joins tables %s and %s', least(first_table, r.table_no), greatest(last_table, r.table_no))
             END,
        CASE WHEN in_round AND t.round_no IS NULL THEN 'it is of no round' END,
        CASE WHEN NOT in_round AND t.round_no IS NOT NULL THEN format('it is of round %s', t.round_no) END,
        CASE WHEN t.kind = {TransferKind.WITHDRAWAL.value} AND t.mode = {Mode.DEMO.value}
             THEN 'it paid out demonstration credits' END) AS differs
    FROM (
        SELECT e.transfer_no,
               bit_or(1 << ((a.kind - 1) * 4 + (e.pocket - 1) * 2 + CASE WHEN e.amount_cents < 0 THEN 1 ELSE 0 END))
                   AS moved,
               min(whose) AS first_player, max(whose) AS last_player,
               least(min(a.table_no), min(s.table_no)) AS first_table,
               greatest(max(a.table_no), max(s.table_no)) AS last_table
        FROM entries e
        JOIN (
            SELECT account_no, kind, table_no,
                   CASE kind WHEN {AccountKind.PLAYER.value} THEN account_no ELSE owner_no END AS whose
            FROM accounts
        ) a USING (account_no)
        LEFT JOIN sessions s USING (session_no)
        GROUP BY e.transfer_no
    ) m
    JOIN transfers t USING (transfer_no)
    JOIN (VALUES {_SHAPE_ROWS}) AS k(kind, name, says, needed, allowed, one_player, in_round, joins_tables)
        ON k.kind = t.kind
    LEFT JOIN rounds r USING (round_no)
) d
WHERE differs <> ''
"""
