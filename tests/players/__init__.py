"""Players who reach a platform over its gateways, and send a command again until it is answered."""
