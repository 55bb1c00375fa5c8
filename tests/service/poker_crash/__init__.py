"""Plays poker while the owner of the table and the wallet are killed: the very hand goes on, with the very cards."""
