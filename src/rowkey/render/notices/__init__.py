"""What was found in files, in the forms that other programs take."""
