"""Long work in child processes, and how far it is."""
