"""The turns of a round whose cards are dealt: decisions, their clock and their money, and going on after a takeover."""
