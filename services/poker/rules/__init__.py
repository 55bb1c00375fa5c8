"""Writes the rules that players read, in Portuguese and English, with a table's own blinds, caves and limits."""
