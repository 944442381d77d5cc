"""What comes in: recorded samples, generated events, and what they tell of the fields."""
