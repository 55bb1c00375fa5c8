"""Keeps clients up to date: WebSockets, JSON-RPC, server-sent events, and the feeds of tables and players."""
