"""How ZooKeeper is spoken to: where it is, one session with it, and the thread that keeps that."""
