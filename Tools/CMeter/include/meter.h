#pragma once
#include <stdint.h>

/// Calls `body` with `context`. It is never inlined, because profilers are told to collect only within this function.
void loop_meter(void (*body)(void *), void *context);

/// The number of heap allocations so far, by any thread of this process.
uint64_t loop_meter_allocations(void);
