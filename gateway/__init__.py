"""The gateway: serves REST, WebSockets and server-sent events to clients, and knows no game."""
