"""What holds for every request and for the process: invalid text, readiness."""
