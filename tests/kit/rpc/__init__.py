"""Tests of the gRPC server and of the relay."""
