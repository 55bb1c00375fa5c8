"""Tables whose players bring caves, played at poker in a simulated world: caves, hands, takeovers."""
