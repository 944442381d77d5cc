"""Parts of a key that are not transforms: fields, constants, and what the others are made of."""
