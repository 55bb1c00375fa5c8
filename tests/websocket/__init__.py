"""The WebSocket endpoint against the cases of the Autobahn testsuite (`make test-websocket`)."""
