"""Changes of a table's bucket counts while clients use it: generations that live side by side.

The catalog entry lists all generations that a table has had, and rows stay where they were written.
Nothing retires a generation yet: no record says under which counts no row is left. So reads look
under the old counts for the life of the table; `rowkey.move` copies the rows to a table with one.
"""
