#include "keys.h"
#include <errno.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int reference_push(const char *collector, const char *server_key, uint64_t count) {
    void *context = zmq_ctx_new(), *push = zmq_socket(context, ZMQ_PUSH);
    int unlimited = 0;
    zmq_setsockopt(push, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
    if (reference_connect_with(push, server_key) != 0 || zmq_connect(push, collector) != 0) return errno;
    for (uint64_t number = 0; number < count; number++) {
        zmq_msg_t message;
        if (zmq_msg_init_size(&message, reference_bytes) != 0) return errno;
        memset(zmq_msg_data(&message), 0, reference_bytes);
        memcpy((char *)zmq_msg_data(&message) + 8, &number, 8);
        if (zmq_msg_send(&message, push, 0) < 0) return errno;
    }
    // Ends once everything has left.
    zmq_close(push);
    zmq_ctx_term(context);
    return 0;
}

int reference_pull(struct reference_reducer *reducer, uint64_t count, double *seconds) {
    double began = 0;
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (uint64_t number = 0, seen; number < count; number++) {
        if (zmq_msg_recv(&message, reducer->pull, 0) != reference_bytes) return errno ? errno : EPROTO;
        if (number == 0) began = seconds_now();
        memcpy(&seen, (char *)zmq_msg_data(&message) + 8, 8);
        if (seen != number) return EPROTO;
    }
    *seconds = seconds_now() - began;
    return 0;
}
