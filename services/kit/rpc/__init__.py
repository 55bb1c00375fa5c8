"""Answers gRPC calls, single or relayed over one stream, and makes calls over a relay."""
