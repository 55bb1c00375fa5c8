"""Statistical evidence about the platform's randomness (`make rng-report`)."""
