#include "keys.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

static void *bound(void *context, int kind, const struct reference_keys *keys, char *endpoint) {
    void *socket = zmq_socket(context, kind);
    int unlimited = 0;
    size_t size = reference_endpoint_bytes;
    if (!socket) return NULL;
    zmq_setsockopt(socket, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &unlimited, sizeof unlimited);
    if (reference_serve_with(socket, keys) != 0) return NULL;
    if (zmq_bind(socket, "tcp://127.0.0.1:*") != 0) return NULL;
    if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size) != 0) return NULL;
    return socket;
}

int reference_reducer_open(struct reference_reducer *reducer, const struct reference_keys *keys) {
    memset(reducer, 0, sizeof *reducer);
    reducer->context = zmq_ctx_new();
    reducer->pull = bound(reducer->context, ZMQ_PULL, keys, reducer->collector);
    reducer->pub = bound(reducer->context, ZMQ_PUB, keys, reducer->publisher);
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

int reference_reducer_run_durable(struct reference_reducer *reducer, int file) {
    enum { most = 1024 };
    static char log[most * reference_bytes];
    static zmq_msg_t messages[most];
    uint64_t applied = 0;
    for (int i = 0; i < most; i++) zmq_msg_init(&messages[i]);
    for (;;) {
        int count = 0;
        // One is waited for, what else has come is drained.
        while (count < most && zmq_msg_recv(&messages[count], reducer->pull, count ? ZMQ_DONTWAIT : 0) >= 0) {
            if (zmq_msg_size(&messages[count]) != reference_bytes) return EPROTO;
            memcpy(log + count * reference_bytes, zmq_msg_data(&messages[count]), reference_bytes);
            count++;
        }
        if (count == 0) return errno;
        ssize_t bytes = (ssize_t)count * reference_bytes, written = write(file, log, (size_t)bytes);
        if (written != bytes) return written < 0 ? errno : EIO;
        if (fdatasync(file) != 0) return errno;
        for (int i = 0; i < count; i++) {
            applied++;
            memcpy((char *)zmq_msg_data(&messages[i]) + 16, &applied, 8);
            if (zmq_msg_send(&messages[i], reducer->pub, 0) < 0) return errno;
        }
    }
}
