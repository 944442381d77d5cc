"""Do clients that share no code agree: what one writes, each other reads, cell by cell."""
