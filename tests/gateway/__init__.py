"""Tests of the gateway, in the rooms of the gateway."""
