"""The tables that a process owns: opens them, ends what a former owner has left, and seats players at them."""
