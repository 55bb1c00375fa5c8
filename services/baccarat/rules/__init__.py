"""The rules of baccarat that players read, in Portuguese and English."""
