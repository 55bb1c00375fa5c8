"""The development front desk: stands where an operator has his own site, with its login and its cashier."""
