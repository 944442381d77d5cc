"""What requests are made of, and what answers are read by: the messages that several share."""
