#pragma once
#include <stdint.h>

/// Calls `body` with `context`. Profilers are told to collect within this function only, so it is never inlined.
void loop_meter(void (*body)(void *), void *context);

/// How often memory was taken from the heap so far, by any thread of this process.
uint64_t loop_meter_allocations(void);
