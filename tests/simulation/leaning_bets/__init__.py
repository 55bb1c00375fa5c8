"""Bets that lean on each other, in virtual time: baccarat's difference of ponto and banca, and the limits of Macau."""
