#include "reference.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int reference_append(const char *path, uint64_t bytes, uint64_t count, double *seconds) {
    int error = 0;
    char *batch = malloc(bytes);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (!batch || file < 0) {
        error = errno;
        goto end;
    }
    memset(batch, 0x5a, bytes);
    double began = seconds_now();
    for (uint64_t number = 0; number < count; number++) {
        memcpy(batch, &number, bytes < sizeof number ? bytes : sizeof number);
        if (write(file, batch, bytes) != (ssize_t)bytes || fdatasync(file) != 0) {
            error = errno ? errno : EIO;
            goto end;
        }
    }
    *seconds = seconds_now() - began;
end:
    if (file >= 0) close(file);
    free(batch);
    return error;
}
