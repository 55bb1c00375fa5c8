"""The wallet's pure decisions."""
