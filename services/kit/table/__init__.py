"""The table runtime: everything about live tables that does not depend on the game played there."""
