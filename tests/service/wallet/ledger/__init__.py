"""Money commands from the gRPC call to the rows: rounds, caves, demonstration credits, and a reference model."""
