"""The edge, against a real NATS and a real gRPC health service."""
