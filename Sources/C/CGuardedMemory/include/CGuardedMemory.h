// The guarded memory that libzmq takes from libsodium for the secrets of a handshake: blocks that are used again.
#ifndef LOOP_GUARDED_MEMORY_H
#define LOOP_GUARDED_MEMORY_H

#include <stdint.h>

// How many blocks this process has taken: new from libsodium, and used again. Each only grows.
struct loop_guarded_counts {
    uint64_t made;
    uint64_t used_again;
};

struct loop_guarded_counts loop_guarded_counts(void);

#endif
