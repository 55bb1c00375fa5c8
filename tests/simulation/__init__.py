"""The table runtime in virtual time among dying processes and lost answers: its guarantees hold."""
