"""Keyboard, screen reader, contrast, motion and layouts from a phone to an enlarged page."""
