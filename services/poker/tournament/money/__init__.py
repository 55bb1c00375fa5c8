"""The money of a tournament: entries and tickets, prizes and bounties, and what a cancellation gives back."""
