"""What clients need to follow a table that moves to another design."""
