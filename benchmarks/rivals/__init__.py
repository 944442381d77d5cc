"""What a user would write instead of using rowkey."""
