"""`make test-scale`: a large tournament of bots at the real services, whose owner is killed again and again."""
