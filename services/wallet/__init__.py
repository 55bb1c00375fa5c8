"""The player's account desk: the ledger, the game sessions and the complaints. One process, one database."""
