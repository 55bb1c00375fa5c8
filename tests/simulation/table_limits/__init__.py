"""Limits of a table as a whole: what all players together may have on the felt, in ponto e banca Macau."""
