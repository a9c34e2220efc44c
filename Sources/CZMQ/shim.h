// libzmq, and the one funnel of its errno: every loopzmq_ call answers with a value of 0 or more, or with -errno,
// read in the expression that saw the failure. A call that a signal interrupted is made again.
#ifndef LOOP_CZMQ_SHIM_H
#define LOOP_CZMQ_SHIM_H

#include <errno.h>
#include <zmq.h>

// Declared by zmq.h for the draft API only, but part of every build since 4.3.0: include/zmq.h and src/options.cpp of v4.3.4.
#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93
#endif

#define LOOPZMQ_CALL(call)                           \
    do {                                             \
        int result = (call);                         \
        if (result >= 0) return result;              \
        int code = zmq_errno();                      \
        if (code != EINTR) return code ? -code : -1; \
    } while (1)

static inline int loopzmq_context_set(void *context, int option, int value) {
    LOOPZMQ_CALL(zmq_ctx_set(context, option, value));
}

static inline int loopzmq_context_term(void *context) { LOOPZMQ_CALL(zmq_ctx_term(context)); }

static inline int loopzmq_close(void *socket) { LOOPZMQ_CALL(zmq_close(socket)); }

static inline int loopzmq_set(void *socket, int option, const void *value, size_t size) {
    LOOPZMQ_CALL(zmq_setsockopt(socket, option, value, size));
}

static inline int loopzmq_get(void *socket, int option, void *value, size_t *size) {
    LOOPZMQ_CALL(zmq_getsockopt(socket, option, value, size));
}

static inline int loopzmq_bind(void *socket, const char *endpoint) { LOOPZMQ_CALL(zmq_bind(socket, endpoint)); }

static inline int loopzmq_unbind(void *socket, const char *endpoint) { LOOPZMQ_CALL(zmq_unbind(socket, endpoint)); }

static inline int loopzmq_connect(void *socket, const char *endpoint) { LOOPZMQ_CALL(zmq_connect(socket, endpoint)); }

static inline int loopzmq_disconnect(void *socket, const char *endpoint) {
    LOOPZMQ_CALL(zmq_disconnect(socket, endpoint));
}

// Copies `size` bytes into a frame and queues it, or fails at once with -EAGAIN.
static inline int loopzmq_send(void *socket, const void *bytes, size_t size, int more) {
    LOOPZMQ_CALL(zmq_send(socket, bytes, size, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)));
}

// Takes the next frame, whatever the message held before, or fails at once with -EAGAIN.
static inline int loopzmq_receive(zmq_msg_t *message, void *socket) {
    LOOPZMQ_CALL(zmq_msg_recv(message, socket, ZMQ_DONTWAIT));
}

// The same, but waits for a frame: until there is one, or until the context ends.
static inline int loopzmq_await(zmq_msg_t *message, void *socket) { LOOPZMQ_CALL(zmq_msg_recv(message, socket, 0)); }

// Reports the socket's events at an inproc endpoint, or ends the reports if it is null. Failed binds are not reported:
// libzmq 4.3.4 reports them before zmq_bind returns, and the report overwrites the errno of the failure with EAGAIN.
static inline int loopzmq_monitor(void *socket, const char *endpoint) {
    LOOPZMQ_CALL(zmq_socket_monitor(socket, endpoint, ZMQ_EVENT_ALL & ~ZMQ_EVENT_BIND_FAILED));
}

// Writes a new key pair as two texts of 40 characters and a NUL each; -ENOTSUP if libzmq was built without CURVE.
static inline int loopzmq_keypair(char *public_text, char *secret_text) {
    LOOPZMQ_CALL(zmq_curve_keypair(public_text, secret_text));
}

// Writes the public key that belongs to a secret one, both as texts of 40 characters and a NUL.
static inline int loopzmq_public_key(char *public_text, const char *secret_text) {
    LOOPZMQ_CALL(zmq_curve_public(public_text, secret_text));
}

#endif
