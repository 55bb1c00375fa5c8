"""Tables played for chips without money value, whose hands a director starts: the inner tables of a tournament."""
