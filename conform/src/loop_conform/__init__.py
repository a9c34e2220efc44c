"""A kit that proves that a worker, a client or a reducer of a loop speaks the protocol."""
