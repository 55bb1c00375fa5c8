"""How much one round may hold, counted over all stakes ever placed in it, cancelled ones included.

The owner of a round must be able to end it, to read it back and to send it, and so must the next owner (G4, G11). So
the ledger takes no stake beyond these limits, and a table stops before. The payouts for all stakes, each named by an id
as long as ids may be, are one message of less than 4 MiB, and so are the results of as many accounts. All else is read
in pages.
"""

STAKES_LIMIT = 20_000
DETAIL_BYTES_LIMIT = 4 * 1024 * 1024

# The most that one stake may be. No table's rules allow a player more on the felt, so that no bet within the published
# limits is refused for it; and the stakes of a full round together stay inside int64.
STAKE_LIMIT_CENTS = 2 * 10**12
