#include "reference.h"
#include <errno.h>
#include <string.h>
#include <zmq.h>

static void *bound(void *context, int kind, char *endpoint) {
    void *socket = zmq_socket(context, kind);
    int unlimited = 0;
    size_t size = reference_endpoint_bytes;
    if (!socket) return NULL;
    zmq_setsockopt(socket, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &unlimited, sizeof unlimited);
    if (zmq_bind(socket, "tcp://127.0.0.1:*") != 0) return NULL;
    if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size) != 0) return NULL;
    return socket;
}

int reference_reducer_open(struct reference_reducer *reducer) {
    memset(reducer, 0, sizeof *reducer);
    reducer->context = zmq_ctx_new();
    reducer->pull = bound(reducer->context, ZMQ_PULL, reducer->collector);
    reducer->pub = bound(reducer->context, ZMQ_PUB, reducer->publisher);
    return reducer->pull && reducer->pub ? 0 : errno;
}

int reference_reducer_run(struct reference_reducer *reducer) {
    uint64_t applied = 0;
    zmq_msg_t message;
    zmq_msg_init(&message);
    // A receive that finds a message does not wait, so a backlog is drained without a poll.
    while (zmq_msg_recv(&message, reducer->pull, 0) >= 0) {
        if (zmq_msg_size(&message) != reference_bytes) return EPROTO;
        applied++;
        memcpy((char *)zmq_msg_data(&message) + 16, &applied, 8);
        // The event's own buffer becomes the update: nothing is allocated or copied.
        if (zmq_msg_send(&message, reducer->pub, 0) < 0) return errno;
    }
    return errno;
}
