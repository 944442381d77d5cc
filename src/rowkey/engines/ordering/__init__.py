"""One order of all changes to a row: locks, and stamps that never go back."""
