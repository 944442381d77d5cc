"""Independent clients agree: what one writes, the others read, cell by cell.

Three clients are compared: rowkey's, the official one, and asynchbase, which shares no code with
the official one. asynchbase is used instead of gohbase, a client in Go, which was not available:
the Go module proxy answered "403, this module version is not available" for
github.com/tsuna/gohbase.
"""
