"""Files of columns: what they say of their own sizes is checked before it is believed."""
