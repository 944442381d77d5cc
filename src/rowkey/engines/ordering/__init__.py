"""Orders all changes of a row: locks, and timestamps that never go back."""
