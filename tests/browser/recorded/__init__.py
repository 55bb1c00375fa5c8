"""Tests of what the screen alone decides, on recorded answers: layout, words, keyboard and colours."""
