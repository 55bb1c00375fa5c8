"""How strong a hand of poker is: against the text of the rules, another evaluator and exact counts."""
