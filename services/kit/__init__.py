"""What every Feltro service is built from."""
