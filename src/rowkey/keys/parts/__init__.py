"""Parts of a key that are not transforms: fields, constants, and the bases of transforms."""
