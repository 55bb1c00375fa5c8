"""Tests of WebSockets, server-sent events and the feeds behind them."""
