"""The course of a tournament: its state, the facts that change it, and the orders that follow from them."""
