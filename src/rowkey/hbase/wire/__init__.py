"""The bytes of HBase's protocol: protobuf, frames, cell blocks; no sockets."""
