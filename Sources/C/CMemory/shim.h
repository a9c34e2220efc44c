// Memory that the system moves by its page tables as it grows. Memory of Swift would be copied each time.
#ifndef LOOP_CMEMORY_SHIM_H
#define LOOP_CMEMORY_SHIM_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// From here on memory is a mapping of its own, which the C library would not give it for certain.
#define LOOP_MAPPED_BYTES ((size_t)1 << 20)

static inline size_t loop_memory_mapped(size_t size) { return (size + 0xFFFF) & ~(size_t)0xFFFF; }

// Memory of `size` bytes with what `memory` of `old` bytes held, which is gone; new memory for NULL. A large piece is moved by
// the system's page tables, without its bytes being read. Without memory the process ends, as it does in Swift.
static inline void *loop_memory_resize(void *memory, size_t old, size_t size) {
    void *moved;
    if (size < LOOP_MAPPED_BYTES && old < LOOP_MAPPED_BYTES) {
        moved = realloc(memory, size ? size : 1);
        if (!moved) abort();
        return moved;
    }
    if (old >= LOOP_MAPPED_BYTES && size >= LOOP_MAPPED_BYTES) {
        const int may_move = 1;
        long place = syscall(SYS_mremap, memory, loop_memory_mapped(old), loop_memory_mapped(size), may_move);
        if (place == -1) abort();
        return (void *)place;
    }
    if (size >= LOOP_MAPPED_BYTES) {
        moved = mmap(NULL, loop_memory_mapped(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (moved == MAP_FAILED) abort();
    } else {
        moved = malloc(size ? size : 1);
        if (!moved) abort();
    }
    if (memory) {
        memcpy(moved, memory, old < size ? old : size);
        if (old >= LOOP_MAPPED_BYTES) munmap(memory, loop_memory_mapped(old));
        else free(memory);
    }
    return moved;
}

static inline void loop_memory_free(void *memory, size_t size) {
    if (size >= LOOP_MAPPED_BYTES) munmap(memory, loop_memory_mapped(size));
    else free(memory);
}

#endif

#endif
