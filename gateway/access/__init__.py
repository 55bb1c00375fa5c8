"""Decides who may call and how often: tokens, log-ins, revocations, demonstrations, trusted proxies and rates."""
