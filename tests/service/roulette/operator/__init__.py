"""What an operator sets and what anybody may read: specific rules, switches, rules text, required information."""
