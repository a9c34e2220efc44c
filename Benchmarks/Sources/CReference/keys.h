// CURVE for a socket that is not bound or connected yet. 0, or -1 and errno. Without keys nothing changes.
#pragma once
#include "reference.h"

int reference_serve_with(void *socket, const struct reference_keys *keys);

// With a new pair of the client's own.
int reference_connect_with(void *socket, const char *server_key);
