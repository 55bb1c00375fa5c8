"""Pure rules, without a database, a bus or a clock."""
