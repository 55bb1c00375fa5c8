"""How much a browser loads, and how smoothly a full table runs."""
