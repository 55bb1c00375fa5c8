"""What must be true of tournaments: pools hold what was paid in and not out, and each record says what was moved.

Kinds and reasons are the numbers of `model/state.py`: a pay-in is a transfer of kind 11, or 13 by ticket, a payment one
of kind 12; pools are accounts of kind 5, open tickets of kind 6, banks of kind 3, players of kind 1. Awards with a
ticket were paid in cash where that became converted (4) or reimbursed (5).
"""

# What is paid in as a fee is the bank's, until the pay-in is given back.
POOLS = """
SELECT format('The pool of tournament %s (%s) holds %s cents; %s cents were paid in for it and %s paid out of it.',
              b.table_no, b.table_id, coalesce(a.free_cents::text, '(no account)'), coalesce(i.cents, 0),
              coalesce(o.cents, 0) - coalesce(k.cents, 0))
    || CASE WHEN b.closed_at IS NOT NULL THEN format(' It is closed since %s.', b.closed_at) ELSE '' END
FROM tables b
LEFT JOIN accounts a ON a.account_no = b.pool_no AND a.kind = 5
LEFT JOIN (
    SELECT table_no, sum(prize_cents + bounty_cents) AS cents FROM tournament_pay_ins GROUP BY table_no
) i ON i.table_no = b.table_no
LEFT JOIN (
    SELECT w.table_no, sum(w.amount_cents - coalesce(p.fee_cents, 0)) AS cents
    FROM tournament_awards w LEFT JOIN tournament_pay_ins p ON p.transfer_no = w.refunded_no GROUP BY w.table_no
) o ON o.table_no = b.table_no
LEFT JOIN (
    SELECT table_no, sum(overlay_cents + shortfall_cents) AS cents FROM tournament_bank_payments GROUP BY table_no
) k ON k.table_no = b.table_no
WHERE b.play = 4 AND (
    a.free_cents IS DISTINCT FROM coalesce(i.cents, 0) - coalesce(o.cents, 0) + coalesce(k.cents, 0)
    OR b.closed_at IS NOT NULL AND a.free_cents <> 0)
"""

PAY_INS = """
SELECT format('Transfer %s (request %s) moved %s cents of account %s, %s to the pool of table %s and %s to the bank,'
              ' for tournament %s; its pay-in says %s for prizes and bounties and %s of fee, of account %s to'
              ' tournament %s.',
              transfer_no, t.request_id, coalesce(t.price, 0), t.payer_no, coalesce(t.pool, 0), t.pool_table_no,
              coalesce(t.bank, 0), t.reference, coalesce(p.prize_cents + p.bounty_cents, 0), coalesce(p.fee_cents, 0),
              p.account_no, p.table_no)
FROM (
    SELECT transfer_no, min(t.request_id) AS request_id, min(t.reference) AS reference, min(t.kind) = 13 AS by_ticket,
           min(e.account_no) FILTER (WHERE a.kind IN (1, 6)) AS payer_no,
           -sum(e.amount_cents) FILTER (WHERE a.kind IN (1, 6)) AS price,
           sum(e.amount_cents) FILTER (WHERE a.kind = 5) AS pool,
           coalesce(sum(e.amount_cents) FILTER (WHERE a.kind = 3), 0) AS bank,
           min(a.table_no) FILTER (WHERE a.kind = 5) AS pool_table_no
    FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE t.kind IN (11, 13) GROUP BY transfer_no
) t FULL JOIN tournament_pay_ins p USING (transfer_no)
LEFT JOIN tables b ON b.table_no = p.table_no
WHERE t.price IS DISTINCT FROM p.prize_cents + p.bounty_cents + p.fee_cents
   OR t.pool IS DISTINCT FROM p.prize_cents + p.bounty_cents OR t.bank IS DISTINCT FROM p.fee_cents
   OR t.by_ticket IS DISTINCT FROM (p.ticket_no IS NOT NULL)
   OR t.payer_no IS DISTINCT FROM CASE WHEN t.by_ticket THEN b.tickets_no ELSE p.account_no END
   OR t.pool_table_no IS DISTINCT FROM p.table_no
   OR b.table_id IS DISTINCT FROM t.reference
"""

# Per payment and player, the cash; per payment, what came from the pool and from the bank; of every refund, what it
# gives back. What tickets of other tournaments and their banks got is for `ticket-transfers` to compare.
AWARDS = """
SELECT format('Transfer %s, account %s: it paid %s cents, its awards say %s.',
              transfer_no, account_no, coalesce(t.paid, 0), coalesce(w.cents, 0))
FROM (
    SELECT transfer_no, account_no, sum(e.amount_cents) AS paid
    FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE t.kind = 12 AND a.kind = 1 GROUP BY transfer_no, account_no
) t FULL JOIN (
    SELECT transfer_no, account_no, sum(amount_cents) AS cents FROM tournament_awards
    WHERE ticket_state IS NULL OR ticket_state IN (4, 5) GROUP BY transfer_no, account_no
) w USING (transfer_no, account_no)
WHERE t.paid IS DISTINCT FROM w.cents
UNION ALL
SELECT format('Transfer %s (request %s) took %s cents from pools and %s from banks of tables %s to %s, for tournament'
              ' %s; its awards are %s cents in tables %s to %s, %s of them fees, and the bank added %s in table %s.',
              transfer_no, t.request_id, t.pool, t.bank, t.first_table, t.last_table, t.reference,
              coalesce(w.cents, 0), w.first_table, w.last_table, coalesce(w.fees, 0), coalesce(k.cents, 0), k.table_no)
FROM (
    SELECT transfer_no, min(t.request_id) AS request_id, min(t.reference) AS reference,
           coalesce(-sum(e.amount_cents) FILTER (WHERE a.kind = 5), 0) AS pool,
           coalesce(-sum(e.amount_cents) FILTER (WHERE a.kind = 3 AND e.amount_cents < 0), 0) AS bank,
           min(a.table_no) FILTER (WHERE e.amount_cents < 0) AS first_table,
           max(a.table_no) FILTER (WHERE e.amount_cents < 0) AS last_table
    FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts a USING (account_no)
    WHERE t.kind = 12 GROUP BY transfer_no
) t FULL JOIN (
    SELECT w.transfer_no, sum(w.amount_cents) AS cents, sum(coalesce(p.fee_cents, 0)) AS fees,
           min(w.table_no) AS first_table, max(w.table_no) AS last_table
    FROM tournament_awards w LEFT JOIN tournament_pay_ins p ON p.transfer_no = w.refunded_no GROUP BY w.transfer_no
) w USING (transfer_no)
FULL JOIN (
    SELECT transfer_no, table_no, overlay_cents + shortfall_cents AS cents FROM tournament_bank_payments
) k USING (transfer_no)
LEFT JOIN tables b ON b.table_no = w.first_table
WHERE t.bank IS DISTINCT FROM w.fees + coalesce(k.cents, 0)
   OR t.pool IS DISTINCT FROM w.cents - w.fees - coalesce(k.cents, 0)
   OR t.first_table IS DISTINCT FROM w.first_table OR t.last_table IS DISTINCT FROM w.last_table
   OR w.first_table <> w.last_table OR k.table_no <> w.first_table OR b.table_id IS DISTINCT FROM t.reference
UNION ALL
SELECT format('Award %s (transfer %s) gives %s cents of transfer %s back to account %s in tournament %s; ',
              w.award_no, w.transfer_no, w.amount_cents, w.refunded_no, w.account_no, w.table_no) || CASE
    WHEN p.transfer_no IS NULL THEN 'there is no such pay-in.'
    ELSE format('account %s had paid %s cents into tournament %s.',
                p.account_no, p.prize_cents + p.fee_cents + p.bounty_cents, p.table_no) END
FROM tournament_awards w LEFT JOIN tournament_pay_ins p ON p.transfer_no = w.refunded_no
WHERE w.refunded_no IS NOT NULL AND (
    p.transfer_no IS NULL OR p.table_no <> w.table_no OR p.account_no <> w.account_no
    OR p.prize_cents + p.fee_cents + p.bounty_cents <> w.amount_cents)
"""
