#include "keys.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct sender {
    void *push, *sub;
    uint64_t name;
};

static int send_event(struct sender *sender, uint64_t number) {
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, reference_bytes) != 0) return -1;
    char *bytes = zmq_msg_data(&message);
    memset(bytes, 0, reference_bytes);
    memcpy(bytes, &sender->name, 8);
    memcpy(bytes + 8, &number, 8);
    return zmq_msg_send(&message, sender->push, 0);
}

// 0: none was there; 1: one was taken.
static int take_update(struct sender *sender, int flags, uint64_t *number) {
    char bytes[reference_bytes];
    if (zmq_recv(sender->sub, bytes, sizeof bytes, flags) != (int)sizeof bytes) return 0;
    memcpy(number, bytes + 8, 8);
    return 1;
}

// Sends until something comes back, then a mark, and waits for the mark: subscribed, and nothing is under way.
static int join(struct sender *sender) {
    const uint64_t probe = UINT64_MAX - 1, mark = UINT64_MAX;
    uint64_t number = 0;
    int wait_ms = 2;
    zmq_setsockopt(sender->sub, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    for (int tries = 0; tries < 5000; tries++) {
        if (send_event(sender, probe) < 0) return -1;
        if (!take_update(sender, 0, &number)) continue;
        wait_ms = -1;
        zmq_setsockopt(sender->sub, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
        if (send_event(sender, mark) < 0) return -1;
        while (number != mark)
            if (!take_update(sender, 0, &number)) return -1;
        return 0;
    }
    errno = ETIMEDOUT;
    return -1;
}

static int in_order(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int run(struct sender *sender, uint64_t window, uint64_t count, struct reference_result *result) {
    uint64_t sent = 0, number;
    float *waits = window == 1 ? malloc(count * sizeof *waits) : NULL;
    double began = seconds_now(), sent_at = began;
    while (result->updates < count) {
        while (sent < count && sent - result->updates < window) {
            if (waits) sent_at = seconds_now();
            if (send_event(sender, sent++) < 0) return -1;
        }
        for (int flags = 0; take_update(sender, flags, &number); flags = ZMQ_DONTWAIT) {
            if (waits) waits[result->updates] = (float)((seconds_now() - sent_at) * 1e6);
            if (number != result->updates) result->disorder++;
            result->updates++;
            if (result->updates == count) break;
        }
    }
    result->seconds = seconds_now() - began;
    if (waits) {
        qsort(waits, count, sizeof *waits, in_order);
        result->p50_us = waits[count / 2];
        result->longest_us = waits[count - 1];
        free(waits);
    }
    return 0;
}

int reference_sender(
    const char *collector, const char *publisher, const char *server_key, uint64_t name, uint64_t window,
    uint64_t count, struct reference_result *result) {
    memset(result, 0, sizeof *result);
    void *context = zmq_ctx_new();
    struct sender sender = {zmq_socket(context, ZMQ_PUSH), zmq_socket(context, ZMQ_SUB), name};
    int unlimited = 0;
    zmq_setsockopt(sender.push, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
    zmq_setsockopt(sender.sub, ZMQ_RCVHWM, &unlimited, sizeof unlimited);
    zmq_setsockopt(sender.sub, ZMQ_SUBSCRIBE, &name, sizeof name);
    if (reference_connect_with(sender.push, server_key) != 0) return errno;
    if (reference_connect_with(sender.sub, server_key) != 0) return errno;
    if (zmq_connect(sender.push, collector) != 0 || zmq_connect(sender.sub, publisher) != 0) return errno;
    if (join(&sender) != 0 || run(&sender, window, count, result) != 0) return errno ? errno : EPROTO;
    zmq_close(sender.push);
    zmq_close(sender.sub);
    zmq_ctx_term(context);
    return 0;
}
