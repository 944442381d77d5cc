"""Long work of the portal, in child processes and in threads: how far it is, and its results."""
