// What the Glibc module does not import, and what must happen in C.
#ifndef LOOP_CLINUX_SHIM_H
#define LOOP_CLINUX_SHIM_H

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// 1 if somebody accepts connections at a Unix socket path, else 0.
static inline int loop_unix_is_listening(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return 0;
    memcpy(address.sun_path, path, length + 1);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return 0;
    int result = connect(descriptor, (struct sockaddr *)&address, sizeof address);
    // A full backlog answers EAGAIN: somebody is there.
    int listening = result == 0 || errno == EAGAIN;
    close(descriptor);
    return listening;
}

#endif
