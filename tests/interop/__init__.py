"""Independent clients agree: what one writes, the others read, cell by cell.

Three are compared: ours, the official client, and asynchbase, which was written apart from it. It
stands here in place of gohbase, a client in Go, which could not be had where these tests were
written: the Go module proxy answered "403, this module version is not available" for
github.com/tsuna/gohbase.
"""
