"""Tests of authentication, activity, revocations, demonstrations, proxies and rates."""
