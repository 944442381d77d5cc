"""Truth trials of the growth model: a whole table is generated, a part of it is judged."""
