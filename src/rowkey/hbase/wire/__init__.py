"""The bytes of HBase's protocol: protobuf by hand, frames, cell blocks; no socket."""
