"""Rounds with decisions that another owner goes on with: cards, seats and journals outlive a process."""
