"""What is damaged in a table, and what can be saved of it."""
