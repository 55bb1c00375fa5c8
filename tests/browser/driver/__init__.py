"""Drives and reads the platform for browser tests: pages in Chromium, and REST calls past the browser."""
