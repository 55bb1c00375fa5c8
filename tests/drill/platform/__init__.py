"""The platform that is drilled: two replicas of what can have two, a bus of three servers, and bad connections."""
