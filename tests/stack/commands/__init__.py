"""Tests of the commands of the development stack."""
