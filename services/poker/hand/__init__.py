"""One hand as an immutable value: posting, dealing, betting rounds, pots, showdown, payments, and what each may see."""
