#include "reference.h"
#include <errno.h>
#include <unistd.h>

int reference_append(int file, const void *batch, uint64_t bytes, uint64_t count) {
    for (uint64_t number = 0; number < count; number++) {
        ssize_t written = write(file, batch, bytes);
        if (written != (ssize_t)bytes) return written < 0 ? errno : EIO;
        if (fdatasync(file) != 0) return errno;
    }
    return 0;
}
