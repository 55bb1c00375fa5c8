"""The audit's checks, and the logs of operators' commands and switches."""
