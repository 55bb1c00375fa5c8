"""Everything that shows that Feltro does what it says."""
