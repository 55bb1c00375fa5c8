"""The pure parts of the table runtime."""
