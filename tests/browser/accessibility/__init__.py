"""Motion, and the layout of an enlarged page."""
