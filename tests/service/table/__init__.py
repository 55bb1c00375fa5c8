"""What every game's tables keep in their database: the journal, the specific rules, the switches."""
