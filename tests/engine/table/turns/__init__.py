"""The turns of a dealt round, without a table."""
