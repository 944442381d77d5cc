"""Changes of a table's bucket counts while clients use it: generations that live side by side."""
