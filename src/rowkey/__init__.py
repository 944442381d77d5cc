"""HBase table design, turned into software: one design file is judged, run and moved."""
