"""Tests of the practice bots: what they decide, when they come and go, and how long they take."""
