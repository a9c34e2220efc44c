// The loop by libzmq alone: an event goes out over PUSH, its update comes back over PUB, one message each, 64 bytes.
// Nothing is numbered, acknowledged, repeated or checked by a schema, and journaled only where a function's name says so.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { reference_bytes = 64, reference_endpoint_bytes = 128, reference_key_bytes = 41 };

// A pair of CURVE keys, as texts. What has none talks without encryption.
struct reference_keys {
    char public_key[reference_key_bytes], secret_key[reference_key_bytes];
};

// Makes a pair. 0, or errno.
int reference_keys_make(struct reference_keys *keys);

// Bytes 0..7 of an event and of its update: the sender, which is the topic that it subscribes.
// Bytes 8..15: the event's number. Bytes 16..23 of an update: how many events the reducer has applied.
struct reference_reducer {
    void *context, *pull, *pub;
    char collector[reference_endpoint_bytes], publisher[reference_endpoint_bytes];
};

// Binds two free TCP ports on loopback; `keys` may be NULL. Every key may connect. 0, or errno.
int reference_reducer_open(struct reference_reducer *reducer, const struct reference_keys *keys);

// Publishes an update for each event, for ever. Returns errno.
int reference_reducer_run(struct reference_reducer *reducer);

// The same, but all events that have come are appended to a file and synced, once, before their updates leave. Returns errno.
int reference_reducer_run_durable(struct reference_reducer *reducer, int file);

struct reference_result {
    double seconds;
    // Updates seen, and how many of them came in another order than that of sending.
    uint64_t updates, disorder;
    // From sending to the update, where the window is 1.
    double p50_us, longest_us;
};

// Sends `count` events, at most `window` of them without their update, and waits for the last update. `server_key` is the
// reducer's public key, or NULL. 0, or errno.
int reference_sender(
    const char *collector, const char *publisher, const char *server_key, uint64_t sender, uint64_t window,
    uint64_t count, struct reference_result *result);

// PUSH and PULL alone: sends `count` events, and waits until all of them have left. 0, or errno.
int reference_push(const char *collector, const char *server_key, uint64_t count);

// Takes `count` events at a reducer's collector: how long from the first to the last. 0, or errno.
int reference_pull(struct reference_reducer *reducer, uint64_t count, double *seconds);

// Appends a batch of `bytes` bytes `count` times to an open file, and calls fdatasync after each. 0, or errno.
int reference_append(int file, const void *batch, uint64_t bytes, uint64_t count);

// A connection to a database, with an empty table for batches; `url` is a URL of libpq.
struct reference_table {
    void *connection;
    uint64_t position;
    // Why the last function has failed.
    char error[256];
};

// Connects, and makes the table. 0, or -1 with the reason in `error`.
int reference_table_open(struct reference_table *table, const char *url);

// Inserts a batch of `bytes` bytes `count` times, each in a transaction of its own, in libpq's pipeline: at most `depth` of them are
// sent without the answer to their commit. 0, or -1 with the reason in `error`.
int reference_table_insert(
    struct reference_table *table, const void *batch, uint64_t bytes, uint64_t count, uint64_t depth);

void reference_table_close(struct reference_table *table);

// Bytes of the heap that are in use.
size_t reference_heap_bytes(void);
