"""What must be true of the wallet's database: each check is one statement that finds where it is not.

A statement returns one sentence per violation, with the numbers and ids that a person needs to look further, and
nothing when all is well. The statements are set-based: PostgreSQL walks the tables, sorting and hashing to disk where
it must, and returns violations only. Kinds and states are the numbers of `model/state.py`; the comments name them.
"""

from dataclasses import dataclass

from services.wallet.audit import tickets, tournaments, transfer_shapes


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be true: its name for programs, its claim for people, the guarantee that it proves."""

    name: str
    guarantee: str
    claim: str
    statement: str


_TRANSFERS_BALANCE = """
SELECT CASE
    WHEN t.request_id IS NULL
    THEN format('Transfer %s does not exist, but %s entries name it.', transfer_no, e.entries)
    WHEN e.entries IS NULL THEN format('Transfer %s (request %s) has no entries.', transfer_no, t.request_id)
    ELSE format('The entries of transfer %s (request %s) sum to %s cents.', transfer_no, t.request_id, e.total_cents)
END
FROM transfers t FULL JOIN (
    SELECT transfer_no, sum(amount_cents) AS total_cents, count(*) AS entries FROM entries GROUP BY transfer_no
) e USING (transfer_no)
WHERE t.request_id IS NULL OR e.entries IS NULL OR e.total_cents <> 0
"""

# Two windows: the second sorts only the rows of one account of the first, by pocket. Legs order the entries of one
# version and may leave numbers out.
_ENTRIES_CHAIN = """
SELECT format('Account %s, version %s, leg %s, pocket %s (transfer %s): ',
              account_no, version, leg, pocket, transfer_no) || CASE
    WHEN after_cents <> before_cents + amount_cents
    THEN format('%s + %s is not %s.', before_cents, amount_cents, after_cents)
    WHEN before_cents <> left_cents
    THEN format('it starts from %s cents, but the entry before left %s.', before_cents, left_cents)
    ELSE format('it does not follow on version %s (transfer %s).', previous_version, previous_transfer_no)
END
FROM (
    SELECT account_no, version, leg, pocket, transfer_no, before_cents, amount_cents, after_cents,
           lag(version, 1, 0::bigint) OVER by_account AS previous_version,
           lag(transfer_no, 1, 0::bigint) OVER by_account AS previous_transfer_no,
           lag(after_cents, 1, 0::bigint) OVER by_pocket AS left_cents
    FROM entries
    WINDOW by_account AS (PARTITION BY account_no ORDER BY version, leg),
           by_pocket AS (PARTITION BY account_no, pocket ORDER BY version, leg)
) e
WHERE after_cents <> before_cents + amount_cents OR before_cents <> left_cents
   OR NOT (version = previous_version + 1 AND transfer_no > previous_transfer_no
        OR version = previous_version AND transfer_no = previous_transfer_no)
"""

_BALANCES = """
SELECT CASE
    WHEN a.account_id IS NULL THEN format('Account %s does not exist, but entries name it.', account_no)
    ELSE format('Account %s (%s) says free %s, locked %s, version %s;'
                ' its entries come to free %s, locked %s, version %s.',
                account_no, a.account_id, a.free_cents, a.locked_cents, a.version,
                coalesce(e.free_cents, 0), coalesce(e.locked_cents, 0), coalesce(e.version, 0))
END
FROM accounts a FULL JOIN (
    SELECT account_no, max(version) AS version,
           coalesce(sum(amount_cents) FILTER (WHERE pocket = 1), 0) AS free_cents,
           coalesce(sum(amount_cents) FILTER (WHERE pocket = 2), 0) AS locked_cents
    FROM entries GROUP BY account_no
) e USING (account_no)
WHERE a.account_id IS NULL OR a.free_cents <> coalesce(e.free_cents, 0)
   OR a.locked_cents <> coalesce(e.locked_cents, 0) OR a.version <> coalesce(e.version, 0)
"""

# Operator accounts (2) and banks (3) may be below zero.
_NEVER_BELOW_ZERO = """
SELECT format('Account %s (%s) has free %s, locked %s.', account_no, account_id, free_cents, locked_cents)
FROM accounts WHERE (free_cents < 0 OR locked_cents < 0) AND kind NOT IN (2, 3)
"""

_LOCKED = """
SELECT format('Account %s (%s) has %s cents locked, but %s in open stakes of open rounds.',
              account_no, a.account_id, coalesce(a.locked_cents, 0), coalesce(s.open_cents, 0))
FROM accounts a FULL JOIN (
    SELECT s.account_no, sum(s.placed_cents - s.cancelled_cents) AS open_cents
    FROM stakes s JOIN rounds r USING (round_no) WHERE s.state = 1 AND r.state = 1 GROUP BY s.account_no
) s USING (account_no)
WHERE coalesce(a.locked_cents, 0) <> coalesce(s.open_cents, 0)
"""

_MODES_SUM_TO_ZERO = """
SELECT format('All accounts of mode %s together hold %s cents.', mode, sum(free_cents + locked_cents))
FROM accounts GROUP BY mode HAVING sum(free_cents + locked_cents) <> 0
"""

# The session of an entry is the account's own, or its player's where the account is a cave (4).
_ENTRIES_BELONG = """
SELECT format('Transfer %s (request %s), account %s (%s): ', e.transfer_no, t.request_id, e.account_no, a.account_id)
    || CASE WHEN a.mode <> t.mode THEN format('the transfer is of mode %s, the account of mode %s.', t.mode, a.mode)
            WHEN s.session_no IS NULL THEN format('session %s does not exist.', e.session_no)
            ELSE format('session %s (%s) is another account''s.', s.session_no, s.session_id) END
FROM entries e JOIN transfers t USING (transfer_no) JOIN accounts a USING (account_no)
LEFT JOIN sessions s ON s.session_no = e.session_no
WHERE a.mode <> t.mode
   OR e.session_no IS NOT NULL
      AND s.account_no IS DISTINCT FROM CASE a.kind WHEN 1 THEN a.account_no WHEN 4 THEN a.owner_no END
"""

# A request id is unique in `requests`, so a second request for a transfer cannot have the transfer's request id.
_REQUESTS = """
SELECT CASE
    WHEN r.request_id IS NULL THEN format('No request names transfer %s (request %s).', transfer_no, t.request_id)
    WHEN t.request_id IS NULL
    THEN format('Request %s names transfer %s, which does not exist.', r.request_id, transfer_no)
    WHEN r.refused THEN format('Request %s was refused, but names transfer %s.', r.request_id, transfer_no)
    ELSE format('Request %s names transfer %s, which is that of request %s.', r.request_id, transfer_no, t.request_id)
END
FROM transfers t FULL JOIN (
    SELECT transfer_no, request_id, refused FROM requests WHERE transfer_no IS NOT NULL
) r USING (transfer_no)
WHERE r.request_id IS DISTINCT FROM t.request_id OR r.refused
"""

# Open rounds (1) have open stakes (1), settled ones (2) settled (3), void ones (3) returned (4); all of them may have
# cancelled (2) and paid (5) ones.
_STAKES_END_WITH_ROUND = """
SELECT CASE
    WHEN r.round_id IS NULL
    THEN format('Stake %s (%s) is of round %s, which does not exist.', stake_no, stake_id, round_no)
    ELSE format('Stake %s (%s) is in state %s, but its round %s (%s) is in state %s.',
                stake_no, stake_id, s.state, round_no, r.round_id, r.state)
END
FROM stakes s LEFT JOIN rounds r USING (round_no)
WHERE NOT coalesce(s.state IN (2, 5) OR s.state = CASE r.state WHEN 1 THEN 1 WHEN 2 THEN 3 WHEN 3 THEN 4 END, false)
   OR r.round_id IS NULL OR s.payout_cents <> 0 AND s.state NOT IN (3, 5)
"""

# Kinds of transfer that end a round: 5 settled, 6 void, 9 a poker hand.
_ROUNDS_END_ONCE = """
SELECT CASE
    WHEN r.round_id IS NULL
    THEN format('Transfer %s ends round %s, which does not exist.', t.transfer_no, round_no)
    WHEN t.transfers > 1
    THEN format('Round %s (%s) is ended by %s transfers, first %s, last %s.',
                round_no, r.round_id, t.transfers, t.transfer_no, t.last_transfer_no)
    WHEN r.end_transfer_no IS DISTINCT FROM t.transfer_no
    THEN format('Round %s (%s) names %s as the transfer that ended it; the one that did is %s.',
                round_no, r.round_id, coalesce(r.end_transfer_no::text, 'none'), coalesce(t.transfer_no::text, 'none'))
    WHEN t.transfer_no IS NULL
    THEN format('Round %s (%s) has ended stakes, but no transfer ended it.', round_no, r.round_id)
    ELSE format('Round %s (%s) is in state %s, but transfer %s of kind %s ended it.',
                round_no, r.round_id, r.state, t.transfer_no, t.kind)
END
FROM rounds r FULL JOIN (
    SELECT round_no, count(*) AS transfers, min(transfer_no) AS transfer_no, max(transfer_no) AS last_transfer_no,
           min(kind) AS kind
    FROM transfers WHERE round_no IS NOT NULL AND kind IN (5, 6, 9) GROUP BY round_no
) t USING (round_no)
LEFT JOIN (SELECT DISTINCT round_no AS moved_no FROM stakes WHERE state IN (3, 4)) s ON moved_no = r.round_no
WHERE r.round_id IS NULL OR t.transfers > 1 OR r.end_transfer_no IS DISTINCT FROM t.transfer_no
   OR t.kind IS NOT NULL AND r.state <> CASE t.kind WHEN 6 THEN 3 ELSE 2 END
   OR t.transfer_no IS NULL AND r.state <> 1 AND moved_no IS NOT NULL
"""

# Open rounds are few and stakes many, so stakes are looked up by round. The owner of the table cannot end a round that
# is open for very long, or has forgotten it, or the table has no owner; its stakes stay locked.
_ROUNDS_END_IN_TIME = """
SELECT format('Round %s (%s) at table %s (%s) has been open since %s, which is %s h, with %s cents in %s open stakes,'
              ' the last of them placed at %s: who runs the table?',
              r.round_no, r.round_id, r.table_no, t.table_id, r.opened_at,
              round(extract(epoch FROM now() - r.opened_at) / 3600, 1), coalesce(s.open_cents, 0),
              coalesce(s.stakes, 0), coalesce(s.last_at::text, '(none)'))
FROM rounds r LEFT JOIN tables t USING (table_no) LEFT JOIN (
    SELECT round_no, count(*) AS stakes, sum(placed_cents - cancelled_cents) AS open_cents, max(placed_at) AS last_at
    FROM stakes
    WHERE state = 1 AND round_no = ANY(ARRAY(SELECT round_no FROM rounds WHERE state = 1)) GROUP BY round_no
) s USING (round_no)
WHERE r.state = 1 AND extract(epoch FROM now() - r.opened_at) > 3600 * CAST(:round_hours AS double precision)
"""

# Per round and player: what the stakes say against what the entries moved, by kind of transfer (3 stake, 4 cancelled,
# 5 settled, 6 void, 10 paid). Of a stake that was returned all of it came back.
_STAKES_AND_ENTRIES = """
SELECT format('Round %s (%s), account %s (%s): the stakes say placed %s, taken back %s, ended %s, paid %s cents;'
              ' the entries moved %s, %s, %s, %s.',
              round_no, r.round_id, account_no, a.account_id,
              coalesce(s.placed, 0), coalesce(s.cancelled, 0), coalesce(s.ended, 0), coalesce(s.paid, 0),
              coalesce(e.placed, 0), coalesce(e.cancelled, 0), coalesce(e.ended, 0), coalesce(e.paid, 0))
FROM (
    SELECT round_no, account_no, sum(placed_cents) AS placed, sum(cancelled_cents) AS cancelled,
           coalesce(sum(placed_cents - cancelled_cents) FILTER (WHERE state IN (3, 4, 5)), 0) AS ended,
           sum(CASE WHEN state = 4 THEN placed_cents - cancelled_cents ELSE payout_cents END) AS paid
    FROM stakes GROUP BY round_no, account_no
) s FULL JOIN (
    SELECT t.round_no, e.account_no,
           coalesce(sum(e.amount_cents) FILTER (WHERE t.kind = 3 AND e.pocket = 2), 0) AS placed,
           coalesce(-sum(e.amount_cents) FILTER (WHERE t.kind = 4 AND e.pocket = 2), 0) AS cancelled,
           coalesce(-sum(e.amount_cents) FILTER (WHERE t.kind IN (5, 6, 10) AND e.pocket = 2), 0) AS ended,
           coalesce(sum(e.amount_cents) FILTER (WHERE t.kind IN (5, 6, 10) AND e.pocket = 1), 0) AS paid
    FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE t.kind IN (3, 4, 5, 6, 10) AND a.kind = 1 GROUP BY t.round_no, e.account_no
) e USING (round_no, account_no)
LEFT JOIN rounds r USING (round_no) LEFT JOIN accounts a USING (account_no)
WHERE s.placed IS DISTINCT FROM e.placed OR s.cancelled IS DISTINCT FROM e.cancelled
   OR s.ended IS DISTINCT FROM e.ended OR s.paid IS DISTINCT FROM e.paid
"""

# Of every stake: what its cancellations took back. Of every cancelling transfer (4): what it moved. A stake is of the
# account and the round of its cancellations.
_CANCELLATIONS = """
SELECT format('Stake %s (%s) has %s cents cancelled, its cancellations took back %s.',
              stake_no, s.stake_id, coalesce(s.cancelled_cents, 0), coalesce(c.cents, 0))
FROM (SELECT stake_no, stake_id, cancelled_cents FROM stakes WHERE cancelled_cents <> 0) s
FULL JOIN (SELECT stake_no, sum(amount_cents) AS cents FROM stake_cancellations GROUP BY stake_no) c USING (stake_no)
WHERE s.cancelled_cents IS DISTINCT FROM c.cents
UNION ALL
SELECT format('Transfer %s (request %s) cancels stakes: it moved %s cents of account %s in round %s, its cancellations'
              ' %s cents of accounts %s to %s in rounds %s to %s.', transfer_no, t.request_id, coalesce(t.cents, 0),
              t.account_no, t.round_no, coalesce(c.cents, 0), c.first_account, c.last_account, c.first_round,
              c.last_round)
FROM (
    SELECT transfer_no, min(request_id) AS request_id, min(round_no) AS round_no, min(account_no) AS account_no,
           -sum(amount_cents) AS cents
    FROM transfers JOIN entries USING (transfer_no) WHERE kind = 4 AND pocket = 2 GROUP BY transfer_no
) t FULL JOIN (
    SELECT transfer_no, sum(amount_cents) AS cents, min(account_no) AS first_account, max(account_no) AS last_account,
           min(round_no) AS first_round, max(round_no) AS last_round
    FROM stake_cancellations LEFT JOIN stakes USING (stake_no) GROUP BY transfer_no
) c USING (transfer_no)
WHERE t.cents IS DISTINCT FROM c.cents OR t.account_no IS DISTINCT FROM c.first_account
   OR t.account_no IS DISTINCT FROM c.last_account OR t.round_no IS DISTINCT FROM c.first_round
   OR t.round_no IS DISTINCT FROM c.last_round
"""

# Per paying transfer (10) and player: the stakes that it paid against what it moved.
_PAID_STAKES = """
SELECT format('Transfer %s (request %s), account %s: it ended stakes of %s and paid %s cents in round %s; the stakes'
              ' that name it say %s and %s in rounds %s to %s.', transfer_no, t.request_id, account_no,
              coalesce(t.unlocked, 0), coalesce(t.paid, 0), t.round_no, coalesce(s.staked, 0), coalesce(s.paid, 0),
              s.first_round, s.last_round)
FROM (
    SELECT transfer_no, account_no, min(request_id) AS request_id, min(round_no) AS round_no,
           coalesce(-sum(amount_cents) FILTER (WHERE pocket = 2), 0) AS unlocked,
           coalesce(sum(amount_cents) FILTER (WHERE pocket = 1), 0) AS paid
    FROM transfers t JOIN entries USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE t.kind = 10 AND a.kind = 1 GROUP BY transfer_no, account_no
) t FULL JOIN (
    SELECT paid_transfer_no AS transfer_no, account_no, sum(placed_cents - cancelled_cents) AS staked,
           sum(payout_cents) AS paid, min(round_no) AS first_round, max(round_no) AS last_round
    FROM stakes WHERE paid_transfer_no IS NOT NULL GROUP BY paid_transfer_no, account_no
) s USING (transfer_no, account_no)
WHERE t.unlocked IS DISTINCT FROM s.staked OR t.paid IS DISTINCT FROM s.paid
   OR t.round_no IS DISTINCT FROM s.first_round OR t.round_no IS DISTINCT FROM s.last_round
"""

_STAKES_BELONG = """
SELECT format('Stake %s (%s): ', k.stake_no, k.stake_id) || CASE
    WHEN a.account_no IS NULL THEN format('account %s does not exist, or is no player''s.', k.account_no)
    WHEN s.session_no IS NULL THEN format('session %s does not exist.', k.session_no)
    WHEN s.account_no <> k.account_no
    THEN format('it is of account %s, its session %s (%s) of account %s.',
                k.account_no, s.session_no, s.session_id, s.account_no)
    ELSE format('it is of table %s, its session %s (%s) of table %s.',
                r.table_no, s.session_no, s.session_id, s.table_no)
END
FROM stakes k JOIN rounds r USING (round_no)
LEFT JOIN accounts a ON a.account_no = k.account_no AND a.kind = 1
LEFT JOIN sessions s ON s.session_no = k.session_no
WHERE a.account_no IS NULL OR s.account_no IS DISTINCT FROM k.account_no OR s.table_no IS DISTINCT FROM r.table_no
"""

_ROUNDS_BELONG = """
SELECT format('Round %s (%s) is of table %s, which does not exist.', round_no, round_id, r.table_no)
FROM rounds r LEFT JOIN tables t USING (table_no) WHERE t.table_no IS NULL
"""

_SESSIONS_BELONG = """
SELECT format('Session %s (%s): ', session_no, session_id) || CASE
    WHEN a.account_no IS NULL
    THEN format('account %s does not exist, or is not player %s''s.', s.account_no, s.player_id)
    WHEN t.table_no IS NULL THEN format('table %s does not exist.', s.table_no)
    ELSE format('its account is of mode %s, its table of mode %s.', a.mode, t.mode)
END
FROM sessions s
LEFT JOIN accounts a ON a.account_no = s.account_no AND a.kind = 1 AND a.player_id = s.player_id
LEFT JOIN tables t ON t.table_no = s.table_no
WHERE a.mode IS NULL OR t.mode IS NULL OR a.mode <> t.mode
"""

# A cave (4) with money in it needs a session that is not over (5) at its table, or nobody could cash it out.
_ENDED_SESSIONS_HOLD_NOTHING = """
SELECT format('Session %s (%s) has ended with %s open stakes, the first of them stake %s (%s).',
              s.session_no, s.session_id, count(*), min(k.stake_no), min(k.stake_id))
FROM stakes k JOIN sessions s USING (session_no) WHERE k.state = 1 AND s.state = 5
GROUP BY s.session_no, s.session_id
UNION ALL
SELECT format('Cave %s (%s) at table %s holds %s cents, but account %s has no session there.',
              c.account_no, c.account_id, c.table_no, c.free_cents, c.owner_no)
FROM accounts c WHERE c.kind = 4 AND c.free_cents <> 0 AND NOT EXISTS (
    SELECT FROM sessions s WHERE s.table_no = c.table_no AND s.account_no = c.owner_no AND s.state < 5)
"""

# Operator accounts (2) and caves (4) have an owner; banks (3), caves, pools (5) and tickets (6) have a table. All are
# of the same mode.
_ACCOUNTS_BELONG = """
SELECT format('Account %s (%s) of kind %s and mode %s is not of the same mode as its owner %s and its table %s,'
              ' or they do not exist.', a.account_no, a.account_id, a.kind, a.mode,
              coalesce(a.owner_no::text, '(none)'), coalesce(a.table_no::text, '(none)'))
FROM accounts a
LEFT JOIN accounts o ON o.account_no = a.owner_no AND o.kind = 1
LEFT JOIN tables t ON t.table_no = a.table_no
WHERE a.kind IN (2, 4) AND o.mode IS DISTINCT FROM a.mode OR a.kind IN (3, 4, 5, 6) AND t.mode IS DISTINCT FROM a.mode
UNION ALL
SELECT format('Table %s (%s) names account %s as its bank, which is another''s or does not exist.',
              t.table_no, t.table_id, t.bank_no)
FROM tables t LEFT JOIN accounts b ON b.account_no = t.bank_no AND b.kind = 3
WHERE b.table_no IS DISTINCT FROM t.table_no
UNION ALL
SELECT format('Tournament %s (%s) names account %s as its pool, which is another''s or does not exist.',
              t.table_no, t.table_id, t.pool_no)
FROM tables t LEFT JOIN accounts p ON p.account_no = t.pool_no AND p.kind = 5
WHERE t.play = 4 AND p.table_no IS DISTINCT FROM t.table_no
UNION ALL
SELECT format('Tournament %s (%s) names account %s for its tickets, which is another''s or does not exist.',
              t.table_no, t.table_id, t.tickets_no)
FROM tables t LEFT JOIN accounts p ON p.account_no = t.tickets_no AND p.kind = 6
WHERE t.play = 4 AND p.table_no IS DISTINCT FROM t.table_no
"""

# Events are few and entries are many, so entries are looked up by transfer. A prize (1) is what came to the player or
# the player's cave by a transfer that ended a round (5) or a hand (9) or paid stakes (10), and by those before it that
# paid stakes of the same round; the stake is what went. In a tournament (12) it is what its awards say, refunds (3)
# and tickets that lapsed at once (7) apart. A deposit (2) is what came by a transfer of kind 1, a withdrawal (3) what
# went by one of kind 2.
_RELEVANT_EVENTS = """
WITH recorded AS (
    SELECT transfer_no, round_no FROM transfers WHERE transfer_no = ANY(ARRAY(SELECT transfer_no FROM relevant_events))
), paying AS (
    SELECT transfer_no, transfer_no AS part_no FROM recorded
    UNION ALL
    SELECT r.transfer_no, t.transfer_no FROM recorded r JOIN transfers t ON t.round_no = r.round_no
    WHERE t.kind = 10 AND t.transfer_no < r.transfer_no
      AND t.round_no = ANY(ARRAY(SELECT round_no FROM recorded WHERE round_no IS NOT NULL))
)
SELECT format('Relevant event %s of kind %s says that transfer %s moved %s cents of account %s, staked %s; ',
              e.event_no, e.kind, e.transfer_no, e.amount_cents, e.account_no, e.staked_cents) || CASE
    WHEN t.transfer_no IS NULL THEN 'there is no such transfer.'
    ELSE format('it is of kind %s and mode %s, of %s, and moved %s in and %s out.',
                t.kind, t.mode, t.at, coalesce(m.came, 0), coalesce(m.went, 0)) END
FROM relevant_events e
LEFT JOIN (
    SELECT transfer_no, kind, mode, at FROM transfers
    WHERE transfer_no = ANY(ARRAY(SELECT transfer_no FROM relevant_events))
) t ON t.transfer_no = e.transfer_no
LEFT JOIN (
    SELECT p.transfer_no, coalesce(a.owner_no, a.account_no) AS player_no,
           coalesce(sum(n.amount_cents) FILTER (WHERE n.amount_cents > 0), 0) AS came,
           coalesce(-sum(n.amount_cents) FILTER (WHERE n.amount_cents < 0), 0) AS went
    FROM paying p JOIN entries n ON n.transfer_no = p.part_no
    JOIN accounts a ON a.account_no = n.account_no AND a.kind IN (1, 4)
    WHERE n.transfer_no = ANY(ARRAY(SELECT part_no FROM paying))
    GROUP BY p.transfer_no, coalesce(a.owner_no, a.account_no)
) m ON m.transfer_no = e.transfer_no AND m.player_no = e.account_no
LEFT JOIN (
    SELECT transfer_no, account_no, sum(amount_cents) AS cents FROM tournament_awards
    WHERE reason <> 3 AND ticket_state IS DISTINCT FROM 7
      AND transfer_no = ANY(ARRAY(SELECT transfer_no FROM relevant_events))
    GROUP BY transfer_no, account_no
) w ON w.transfer_no = e.transfer_no AND w.account_no = e.account_no
WHERE t.mode IS DISTINCT FROM 1 OR t.at <> e.at
   OR NOT CASE e.kind WHEN 1 THEN t.kind IN (5, 9, 10, 12) WHEN 2 THEN t.kind = 1 ELSE t.kind = 2 END
   OR e.amount_cents IS DISTINCT FROM CASE WHEN t.kind = 12 THEN w.cents WHEN e.kind = 3 THEN m.went ELSE m.came END
   OR (e.session_no IS NULL) <> (e.kind <> 1 OR t.kind = 12)
   OR e.staked_cents IS DISTINCT FROM CASE e.kind WHEN 1 THEN coalesce(m.went, 0) ELSE 0 END
"""

_OUTBOX = """
SELECT format('%s facts wait in the outbox, the oldest (%s) since %s, which is %s s: is the bus reachable?',
              count(*), min(outbox_no), min(at), extract(epoch FROM now() - min(at))::bigint)
FROM outbox HAVING min(at) < now() - make_interval(secs => :outbox_age_s)
UNION ALL
SELECT 'The row of outbox_cursor is missing: what was delivered is not known.'
WHERE NOT EXISTS (SELECT FROM outbox_cursor)
UNION ALL
SELECT 'The row of session_clock is missing: sessions cannot tell the time.'
WHERE NOT EXISTS (SELECT FROM session_clock)
"""

_COMPLAINTS = """
SELECT format('Complaint %s (%s) is in state %s; it has %s steps, the last of them number %s in state %s.',
              c.complaint_no, c.reference, c.state, coalesce(s.steps, 0), coalesce(s.last_number, 0),
              coalesce(s.states[array_upper(s.states, 1)]::text, '(none)'))
FROM complaints c LEFT JOIN (
    SELECT complaint_no, count(*) AS steps, min(number) AS first_number, max(number) AS last_number,
           array_agg(state ORDER BY number) AS states
    FROM complaint_steps GROUP BY complaint_no
) s USING (complaint_no)
WHERE s.steps IS NULL OR s.first_number <> 1 OR s.last_number <> s.steps
   OR s.states[1] <> 1 OR s.states[array_upper(s.states, 1)] <> c.state
UNION ALL
SELECT format('Complaint %s (%s) is about round %s or session %s of account %s, which does not exist or is another''s.',
              c.complaint_no, c.reference, coalesce(c.round_no::text, '(none)'), coalesce(c.session_no::text, '(none)'),
              c.account_no)
FROM complaints c
LEFT JOIN accounts a ON a.account_no = c.account_no AND a.kind = 1 AND a.player_id = c.player_id
LEFT JOIN rounds r ON r.round_no = c.round_no
LEFT JOIN sessions s ON s.session_no = c.session_no AND s.account_no = c.account_no
WHERE a.account_no IS NULL OR r.round_no IS NULL AND s.session_no IS NULL
"""

CHECKS = (
    Check("transfers-balance", "G1", "the entries of each transfer sum to zero", _TRANSFERS_BALANCE),
    Check("entries-chain", "G1", "each account's entries add up and follow one another without a gap", _ENTRIES_CHAIN),
    Check("balances", "G1", "each balance is the sum of its entries, each version their last", _BALANCES),
    Check("modes-sum-to-zero", "G1", "all accounts of a mode together hold nothing", _MODES_SUM_TO_ZERO),
    Check(
        "entries-belong", "G1", "no transfer joins two modes; entries name sessions of their player", _ENTRIES_BELONG
    ),
    Check("never-below-zero", "G2", "no account of a player, no cave and no pool is below zero", _NEVER_BELOW_ZERO),
    Check("locked", "G2", "what is locked are the open stakes", _LOCKED),
    Check(
        "transfers-move",
        "G1",
        "each kind of transfer moves what it may: one player's own, or a table's",
        transfer_shapes.MISSHAPEN_TRANSFERS,
    ),
    Check("requests", "G3", "each transfer has its one accepted request", _REQUESTS),
    Check(
        "stakes-end-with-round", "G4", "stakes are open, settled or returned as their round is", _STAKES_END_WITH_ROUND
    ),
    Check("rounds-end-once", "G4", "each round with ended stakes was ended by one transfer", _ROUNDS_END_ONCE),
    Check("rounds-end", "G4", "no round is open for ever", _ROUNDS_END_IN_TIME),
    Check("stakes-and-entries", "G4", "what stakes say was placed, ended and paid was moved", _STAKES_AND_ENTRIES),
    Check("cancellations", "G1", "what was taken back of stakes was moved, stake by stake", _CANCELLATIONS),
    Check("paid-stakes", "G4", "what stakes that were paid early say was moved by their transfer", _PAID_STAKES),
    Check("pools", "G1", "a pool holds what was paid in and not out, and nothing when it is closed", tournaments.POOLS),
    Check("pay-ins", "G1", "what pay-ins say was moved to the pool and the bank", tournaments.PAY_INS),
    Check("awards", "G1", "what awards say was moved from the pool and the bank to players", tournaments.AWARDS),
    Check(
        "tickets",
        "G1",
        "a tickets account holds the open tickets to its tournament, and nothing when that is closed",
        tickets.TICKETS,
    ),
    Check("ticket-transfers", "G1", "what changes of tickets say was moved", tickets.TRANSFERS),
    Check(
        "ticket-changes", "G3", "tickets stand where their changes say, each by its kind of transfer", tickets.CHANGES
    ),
    Check("ticket-uses", "G1", "pay-ins and awards name the tickets that they used and gave", tickets.USES),
    Check("tickets-to-money", "G12", "no ticket is money but where the law says so", tickets.MONEY),
    Check("stakes-belong", "G4", "stakes are of the account and the table of their session", _STAKES_BELONG),
    Check("rounds-belong", "G4", "rounds are of a table", _ROUNDS_BELONG),
    Check("sessions-belong", "G9", "sessions are of a player and a table of one mode", _SESSIONS_BELONG),
    Check("ended-sessions", "G9", "no session that ended has an open stake or a cave", _ENDED_SESSIONS_HOLD_NOTHING),
    Check(
        "accounts-belong",
        "G1",
        "operator accounts, banks, caves and pools are of the mode of their player and table",
        _ACCOUNTS_BELONG,
    ),
    Check("relevant-events", "G1", "relevant events say what their transfers moved", _RELEVANT_EVENTS),
    Check("outbox", "G5", "facts leave the outbox in time", _OUTBOX),
    Check("complaints", "G3", "complaints stand where their steps say", _COMPLAINTS),
)
