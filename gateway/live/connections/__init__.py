"""Serves WebSockets and server-sent events: JSON-RPC, the limits of a connection, and its end."""
