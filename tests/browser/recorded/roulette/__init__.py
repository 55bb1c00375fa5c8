"""The roulette table, on recorded answers: its board, racetrack and wheel."""
