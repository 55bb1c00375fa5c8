"""The outbox publisher on a real JetStream."""
