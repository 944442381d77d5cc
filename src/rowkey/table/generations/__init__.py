"""Changes of a table's bucket counts while clients use it: generations that live side by side.

The catalog entry lists all generations that a table has had, and rows stay where they were written,
so reads look under all counts. `rowkey.move.bucket_retirement` moves the rows to their current
places, and retires the earlier generations.
"""
