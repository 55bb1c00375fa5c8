"""Players and cashiers of a drill: they come through the gateways, and send a command again until it is answered."""
