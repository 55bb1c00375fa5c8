"""Roulette by Regulations 804/2015 (American) and 807/2015 (French): rules, limits, and the service for its tables."""
