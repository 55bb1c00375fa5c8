"""Shoes that go on from round to round: which cards come is decided once, and told card by card."""
