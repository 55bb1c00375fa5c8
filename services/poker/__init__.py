"""Poker: Hold'em (806/2015) and Omaha (811/2015), for cash and in tournaments (810/2015)."""
