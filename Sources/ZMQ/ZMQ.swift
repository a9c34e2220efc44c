// ZMQ
