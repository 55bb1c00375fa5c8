"""Poker cash games, Hold'em (806/2015) and Omaha (811/2015): the pure engine, complete without a service of its own."""
