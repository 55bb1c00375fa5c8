"""What one sees of a process from outside: its logs, metrics and traces."""
