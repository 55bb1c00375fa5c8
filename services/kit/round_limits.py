"""How much one round may come to hold, counted over all that was ever placed in it, what was taken back included.

Whoever holds a round has to be able to end it, to read it back and to send it, whoever holds it then (G4, G11). So the
ledger takes no stake beyond these, and a table stops before. Payouts for all stakes, each named by an id as long as ids
may be, are one message of less than 4 MiB, and so are the results of as many accounts. All else is read in pages.
"""

STAKES_LIMIT = 20_000
DETAIL_BYTES_LIMIT = 4 * 1024 * 1024
