"""The recorded answers that browser tests run on, held against the contracts by `make test`."""
