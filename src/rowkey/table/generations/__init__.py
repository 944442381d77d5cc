"""A table whose number of buckets has changed: several generations of counts that live together."""
