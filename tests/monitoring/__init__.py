"""Alerts and dashboards, with a real Prometheus: `make test-monitoring`."""
