"""Records every round durably and reads rounds back."""
