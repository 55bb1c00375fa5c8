"""What must be true of tickets: their accounts hold what they are worth, and money has followed each of their changes.

Numbers are those of `model/state.py`. Tickets: 1 issued, 2 used, 3 returned, 4 converted, 5 reimbursed, 6 replaced, 7
expired; 1 and 3 are open. Transfers: 12 a payment of a tournament, 13 a pay-in by ticket, 14 a settlement of tickets.
Accounts: 1 a player's, 3 a bank, 6 the tickets to a tournament.
"""

# A ticket is open in the states 1 and 3, and its value then lies in the account of its tournament.
TICKETS = """
SELECT format('The tickets account of tournament %s (%s) holds %s cents; %s open tickets to it are worth %s.',
              b.table_no, b.table_id, coalesce(a.free_cents::text, '(no account)'), coalesce(k.tickets, 0),
              coalesce(k.cents, 0))
    || CASE WHEN b.closed_at IS NOT NULL THEN format(' It is closed since %s.', b.closed_at) ELSE '' END
FROM tables b
LEFT JOIN accounts a ON a.account_no = b.tickets_no AND a.kind = 6
LEFT JOIN (
    SELECT table_no, count(*) AS tickets, sum(value_cents) AS cents FROM tickets WHERE state IN (1, 3) GROUP BY table_no
) k ON k.table_no = b.table_no
WHERE b.play = 4 AND (
    a.free_cents IS DISTINCT FROM coalesce(k.cents, 0) OR b.closed_at IS NOT NULL AND k.tickets IS NOT NULL)
"""

_STEPS = """
    SELECT c.*, lag(c.state) OVER of_ticket AS state_before, lag(c.transfer_no) OVER of_ticket AS transfer_before,
           lag(c.number, 1, 0) OVER of_ticket AS number_before
    FROM ticket_changes c WINDOW of_ticket AS (PARTITION BY c.ticket_no ORDER BY c.number)
"""

# Per transfer and tournament: what its tickets account and its bank got, and what the changes of tickets say. Per
# settling transfer (14) and player: what was reimbursed; of payments (12) `awards` compares the cash.
TRANSFERS = f"""
SELECT format('Transfer %s, tournament %s: its tickets account got %s cents and its bank %s; the changes of tickets say'
              ' %s and %s.', transfer_no, table_no, coalesce(e.tickets, 0), coalesce(e.bank, 0),
              coalesce(c.opened, 0), coalesce(c.lapsed, 0))
FROM (
    SELECT transfer_no, a.table_no, sum(e.amount_cents) FILTER (WHERE a.kind = 6) AS tickets,
           sum(e.amount_cents) FILTER (WHERE a.kind = 3 AND e.amount_cents > 0) AS bank
    FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE a.kind = 6 OR a.kind = 3 AND t.kind IN (12, 14) GROUP BY transfer_no, a.table_no
) e FULL JOIN (
    SELECT s.transfer_no, k.table_no,
           sum(k.value_cents * ((s.state IN (1, 3))::int - coalesce(s.state_before IN (1, 3), false)::int)) AS opened,
           sum(k.value_cents) FILTER (WHERE s.state = 7) AS lapsed
    FROM ({_STEPS}) s JOIN tickets k USING (ticket_no) GROUP BY s.transfer_no, k.table_no
) c USING (transfer_no, table_no)
WHERE coalesce(e.tickets, 0) <> coalesce(c.opened, 0) OR coalesce(e.bank, 0) <> coalesce(c.lapsed, 0)
UNION ALL
SELECT format('Transfer %s, account %s: settling tickets paid it %s cents; the changes of its tickets say %s.',
              transfer_no, account_no, coalesce(e.cents, 0), coalesce(c.cents, 0))
FROM (
    SELECT transfer_no, account_no, sum(e.amount_cents) AS cents
    FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE t.kind = 14 AND a.kind = 1 GROUP BY transfer_no, account_no
) e FULL JOIN (
    SELECT transfer_no, k.account_no, sum(k.value_cents) AS cents
    FROM ticket_changes s JOIN tickets k USING (ticket_no) JOIN transfers t USING (transfer_no)
    WHERE s.state = 5 AND t.kind = 14 GROUP BY transfer_no, k.account_no
) c USING (transfer_no, account_no)
WHERE e.cents IS DISTINCT FROM c.cents
"""

# Each step from its state before, by which kind of transfer, and of which tournament that is: of the one that awarded
# the ticket, or of the ticket's own. What is money or void at once has its second step by the transfer of the first.
CHANGES = f"""
SELECT format('Ticket %s (%s) is in state %s after %s changes; on record are %s, the last number %s in state %s.',
              k.ticket_no, k.ticket_id, k.state, k.changes, coalesce(c.changes, 0), c.last_number,
              c.states[array_upper(c.states, 1)])
FROM tickets k LEFT JOIN (
    SELECT ticket_no, count(*) AS changes, max(number) AS last_number, array_agg(state ORDER BY number) AS states,
           array_agg(at ORDER BY number) AS ats
    FROM ticket_changes GROUP BY ticket_no
) c USING (ticket_no)
WHERE c.changes IS DISTINCT FROM k.changes OR c.last_number <> c.changes
   OR c.states[array_upper(c.states, 1)] <> k.state OR c.ats[1] <> k.issued_at
   OR c.ats[array_upper(c.ats, 1)] <> k.changed_at
UNION ALL
SELECT format('Change %s of ticket %s leads from state %s to %s by transfer %s of kind %s, for tournament %s; the'
              ' ticket is to %s, awarded by %s.', s.number, s.ticket_no,
              coalesce(s.state_before::text, '(none)'), s.state, s.transfer_no, coalesce(t.kind::text, '(none)'),
              t.reference, b.table_id, w.table_id)
FROM ({_STEPS}) s
LEFT JOIN transfers t USING (transfer_no)
LEFT JOIN tickets k USING (ticket_no)
LEFT JOIN tables b ON b.table_no = k.table_no
LEFT JOIN tables w ON w.table_no = k.awarded_by_no
WHERE NOT coalesce(s.number = s.number_before + 1 AND CASE
    WHEN s.state = 1 THEN s.number = 1 AND t.kind IN (12, 14) AND t.reference = w.table_id
    WHEN s.state_before = 1 AND s.transfer_no = s.transfer_before THEN s.number = 2 AND s.state IN (4, 5, 7)
    WHEN s.state = 2 THEN s.state_before IN (1, 3) AND t.kind = 13 AND t.reference = b.table_id
    WHEN s.state = 3 THEN s.state_before = 2 AND t.kind = 12 AND t.reference = b.table_id
    WHEN s.state IN (5, 6)
    THEN t.kind = CASE WHEN s.state_before = 2 THEN 12 ELSE 14 END AND s.state_before IN (1, 2, 3)
         AND t.reference = b.table_id
    WHEN s.state = 7 THEN s.state_before IN (1, 3) AND t.kind = 14 AND t.reference = b.table_id
    ELSE false END, false)
"""

# A pay-in by ticket and the use of that ticket, an award with a ticket and what it did to it, a ticket and the one that
# it replaces: each names the other, of one account, one tournament and one value.
USES = """
SELECT format('Pay-in %s is of account %s, %s cents for tournament %s; its ticket %s is of account %s, %s cents for'
              ' tournament %s.', p.transfer_no, p.account_no, p.prize_cents + p.fee_cents + p.bounty_cents, p.table_no,
              p.ticket_no, k.account_no, k.value_cents, k.table_no)
FROM tournament_pay_ins p LEFT JOIN tickets k USING (ticket_no)
LEFT JOIN ticket_changes c ON c.ticket_no = p.ticket_no AND c.transfer_no = p.transfer_no AND c.state = 2
WHERE p.ticket_no IS NOT NULL AND (
    c.ticket_no IS NULL OR k.account_no IS DISTINCT FROM p.account_no OR k.table_no IS DISTINCT FROM p.table_no
    OR k.value_cents IS DISTINCT FROM p.prize_cents + p.fee_cents + p.bounty_cents)
UNION ALL
SELECT format('Ticket %s was used by transfer %s, which is no pay-in with it.', c.ticket_no, c.transfer_no)
FROM ticket_changes c LEFT JOIN tournament_pay_ins p USING (transfer_no)
WHERE c.state = 2 AND p.ticket_no IS DISTINCT FROM c.ticket_no
UNION ALL
SELECT format('Award %s (transfer %s) of %s cents to account %s made ticket %s of state %s; that is of account %s and'
              ' %s cents, awarded by tournament %s in place of %s.', w.award_no, w.transfer_no, w.amount_cents,
              w.account_no, w.ticket_no, w.ticket_state, k.account_no, k.value_cents, k.awarded_by_no,
              coalesce(k.replaced_no::text, '(none)'))
FROM tournament_awards w LEFT JOIN tickets k USING (ticket_no)
LEFT JOIN ticket_changes c
    ON c.ticket_no = w.ticket_no AND c.transfer_no = w.transfer_no AND c.state = w.ticket_state
LEFT JOIN tournament_pay_ins p ON p.transfer_no = w.refunded_no
WHERE (w.ticket_no IS NOT NULL OR p.ticket_no IS NOT NULL) AND NOT coalesce(
    c.ticket_no IS NOT NULL AND k.account_no = w.account_no AND k.value_cents = w.amount_cents
    AND CASE WHEN w.reason = 1 THEN k.awarded_by_no = w.table_no AND k.replaced_no IS NULL
             WHEN w.ticket_state IN (3, 5) THEN k.ticket_no = p.ticket_no
             ELSE k.replaced_no = p.ticket_no END, false)
UNION ALL
SELECT format('Ticket %s was issued by transfer %s, but no award or settlement says so.', c.ticket_no, c.transfer_no)
FROM ticket_changes c JOIN tickets k USING (ticket_no) LEFT JOIN transfers t USING (transfer_no)
LEFT JOIN tournament_awards w ON w.ticket_no = c.ticket_no AND w.transfer_no = c.transfer_no
WHERE c.number = 1 AND CASE WHEN t.kind = 14 THEN k.replaced_no IS NULL ELSE w.award_no IS NULL END
UNION ALL
SELECT format('Ticket %s is in place of ticket %s: of account %s for %s, %s cents by transfer %s, in place of state %s,'
              ' account %s, %s cents by transfer %s.', k.ticket_no, coalesce(r.ticket_no, k.replaced_no), k.account_no,
              k.from_freeroll, k.value_cents, i.transfer_no, r.state, r.account_no, r.value_cents, e.transfer_no)
FROM tickets k FULL JOIN (SELECT * FROM tickets) r ON r.ticket_no = k.replaced_no
LEFT JOIN ticket_changes i ON i.ticket_no = k.ticket_no AND i.number = 1
LEFT JOIN ticket_changes e ON e.ticket_no = r.ticket_no AND e.state = 6
WHERE (k.replaced_no IS NOT NULL OR r.state = 6) AND NOT coalesce(
    r.state = 6 AND k.account_no = r.account_no AND k.value_cents = r.value_cents AND k.won = r.won
    AND k.from_freeroll AND r.from_freeroll AND k.awarded_by_no = r.table_no AND i.transfer_no = e.transfer_no, false)
"""

# Converted (4) only beside an earlier won entry that had not lapsed (7) by then. Money or void at once otherwise only
# where the tournament was closed, and never money from a freeroll.
MONEY = """
SELECT format('Ticket %s of account %s to tournament %s was converted by transfer %s: ', k.ticket_no, k.account_no,
              k.table_no, c.transfer_no)
    || CASE WHEN k.from_freeroll THEN 'it is from a freeroll (810/2015:30).'
            ELSE 'the account had won no entry to it before (810/2015:29).' END
FROM ticket_changes c JOIN tickets k USING (ticket_no) LEFT JOIN (
    SELECT c.ticket_no, count(*) AS entries
    FROM ticket_changes c JOIN tickets k USING (ticket_no)
    JOIN tickets o ON o.account_no = k.account_no AND o.table_no = k.table_no
    LEFT JOIN ticket_changes x ON x.ticket_no = o.ticket_no AND x.state = 7
    WHERE c.state = 4 AND o.won AND o.ticket_no < k.ticket_no
      AND (x.transfer_no IS NULL OR x.transfer_no > c.transfer_no)
    GROUP BY c.ticket_no
) o USING (ticket_no)
WHERE c.state = 4 AND (k.from_freeroll OR o.entries IS NULL)
UNION ALL
SELECT format('Ticket %s of account %s was in state %s as soon as transfer %s had issued it; tournament %s %s.',
              k.ticket_no, k.account_no, c.state, c.transfer_no, k.table_no,
              coalesce('is closed since ' || b.closed_at, 'is not closed'))
FROM ticket_changes c JOIN ticket_changes i ON i.ticket_no = c.ticket_no AND i.number = 1
    AND i.transfer_no = c.transfer_no
JOIN tickets k ON k.ticket_no = c.ticket_no LEFT JOIN tables b ON b.table_no = k.table_no
WHERE c.number = 2 AND (
    c.state = CASE WHEN k.from_freeroll THEN 5 ELSE 7 END
    -- the clocks of two processes may differ a little
    OR c.state IN (5, 7) AND NOT coalesce(b.closed_at <= c.at + interval '1 minute', false))
UNION ALL
SELECT format('Ticket %s of account %s (mode %s) is to tournament %s (mode %s, play %s), awarded by %s (mode %s).',
              k.ticket_no, k.account_no, a.mode, k.table_no, b.mode, b.play, k.awarded_by_no, w.mode)
FROM tickets k LEFT JOIN accounts a ON a.account_no = k.account_no AND a.kind = 1
LEFT JOIN tables b ON b.table_no = k.table_no AND b.play = 4
LEFT JOIN tables w ON w.table_no = k.awarded_by_no AND w.play = 4
WHERE NOT coalesce(a.mode = b.mode AND b.mode = w.mode, false)
"""
