"""What the Makefile does to the repository itself: install, lock, check the contracts. Nothing at run time needs it."""
