// libzmq 4.3.4 takes each buffer for the secrets of a handshake from `sodium_allocarray` and gives it back to `sodium_free`, six
// times for each connection (src/secure_allocator.hpp). libsodium maps four pages for each, locks and protects them, and undoes
// all of it a moment later: most of what a handshake costs, under a lock that all threads of the process need.
//
// The linker lets the functions of a program precede those of its libraries. So libzmq calls these two. They keep libsodium's
// blocks, which stay locked, with their guards, and out of core dumps, and hand them out again. What a block had is erased when it
// is given back, as libsodium does.
//
// A program that has libsodium within itself keeps libsodium's own functions: these are weak.

#include "CGuardedMemory.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

// Blocks of a handshake have 64 to 512 bytes. Larger ones are not kept.
enum { block_bytes = 1024, kept_max = 64, header_bytes = 16 };

// Before each block that is handed out. libsodium has 16 bytes of its own before each of its blocks, so what it handed out itself can
// be told apart.
struct header {
    uint64_t mark;
    void *block;
};

static const uint64_t mark = 0x6b636f6c42706f4c;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept[kept_max];
static size_t kept_count;
static struct loop_guarded_counts counts;

static pthread_once_t found = PTHREAD_ONCE_INIT;
static void *(*library_allocate)(size_t, size_t);
static void (*library_free)(void *);

static void find_library(void) {
    library_allocate = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "sodium_allocarray");
    library_free = (void (*)(void *))dlsym(RTLD_NEXT, "sodium_free");
}

// A block of `block_bytes`; NULL if there is no memory.
static void *take(void) {
    pthread_mutex_lock(&lock);
    void *block = kept_count > 0 ? kept[--kept_count] : NULL;
    if (block) counts.used_again++;
    else counts.made++;
    pthread_mutex_unlock(&lock);
    return block ? block : library_allocate(1, block_bytes);
}

// - Returns: whether it is kept.
static int keep(void *block) {
    explicit_bzero(block, block_bytes);
    pthread_mutex_lock(&lock);
    int has_space = kept_count < kept_max;
    if (has_space) kept[kept_count++] = block;
    pthread_mutex_unlock(&lock);
    return has_space;
}

__attribute__((weak, visibility("default"))) void *sodium_allocarray(size_t count, size_t size) {
    size_t bytes, padded;
    pthread_once(&found, find_library);
    if (!library_allocate || !library_free) {
        errno = ENOSYS;
        return NULL;
    }
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    padded = (bytes + header_bytes - 1) & ~(size_t)(header_bytes - 1);
    if (bytes > block_bytes || padded + header_bytes > block_bytes) return library_allocate(count, size);
    char *block = take();
    if (!block) return NULL;
    // At the end of the block, where a guard page follows.
    char *bytes_out = block + block_bytes - padded;
    struct header header = {mark, block};
    memcpy(bytes_out - header_bytes, &header, sizeof header);
    return bytes_out;
}

__attribute__((weak, visibility("default"))) void sodium_free(void *bytes) {
    if (!bytes) return;
    pthread_once(&found, find_library);
    struct header header;
    memcpy(&header, (char *)bytes - header_bytes, sizeof header);
    if (header.mark != mark) return library_free(bytes);
    if (!keep(header.block)) library_free(header.block);
}

struct loop_guarded_counts loop_guarded_counts(void) {
    pthread_mutex_lock(&lock);
    struct loop_guarded_counts now = counts;
    pthread_mutex_unlock(&lock);
    return now;
}
