#include "keys.h"
#include <errno.h>
#include <zmq.h>

int reference_keys_make(struct reference_keys *keys) {
    return zmq_curve_keypair(keys->public_key, keys->secret_key) == 0 ? 0 : errno;
}

int reference_serve_with(void *socket, const struct reference_keys *keys) {
    int is_server = 1;
    if (!keys) return 0;
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &is_server, sizeof is_server) != 0) return -1;
    return zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys->secret_key, reference_key_bytes);
}

int reference_connect_with(void *socket, const char *server_key) {
    struct reference_keys own;
    if (!server_key) return 0;
    if (zmq_curve_keypair(own.public_key, own.secret_key) != 0) return -1;
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_key, reference_key_bytes) != 0) return -1;
    if (zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own.public_key, reference_key_bytes) != 0) return -1;
    return zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own.secret_key, reference_key_bytes);
}
