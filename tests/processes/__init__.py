"""The platform's services as separate processes for tests and benches: started, killed and called."""
