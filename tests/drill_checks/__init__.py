"""Tests of the checks that a drill makes: each finds what is broken, and nothing where all is well."""
