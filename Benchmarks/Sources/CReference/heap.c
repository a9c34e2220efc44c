#include "reference.h"
#include <malloc.h>

size_t reference_heap_bytes(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}
