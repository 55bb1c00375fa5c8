"""The checks of `make test-scale` find what is wrong: on records that were broken on purpose."""
