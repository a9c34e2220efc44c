// Memory that grows where it is: Swift's own cannot, and what is large would be copied each time.
#ifndef LOOP_CMEMORY_SHIM_H
#define LOOP_CMEMORY_SHIM_H

#include <stddef.h>
#include <stdlib.h>

// Memory of `size` bytes with what `memory` held, which is gone; new memory for NULL. A large piece is moved by the system's
// page tables, without its bytes being read. Without memory the process ends, as it does in Swift.
static inline void *loop_memory_resize(void *memory, size_t size) {
    void *moved = realloc(memory, size ? size : 1);
    if (!moved) abort();
    return moved;
}

static inline void loop_memory_free(void *memory) { free(memory); }

#endif
