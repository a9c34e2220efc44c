// What the driver of every peer does besides calling its client library: it numbers the effects, keeps a window of them asked
// for, and counts what comes back. A job and its result have 64 bytes: bytes 0..7 are the number, the others are zero.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { effect_bytes = 64, batch_max = 512, patience_seconds = 300 };

struct driver {
    uint64_t window, count, asked, done;
    // One byte for each effect: whether its result has come.
    uint8_t *seen;
    // When it was asked for, by a clock that only goes forward.
    double *began, *taken, first;
};

static inline double now_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Says why there is no result, and ends this process.
static inline void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why ? why : "no reason given");
    exit(1);
}

static inline uint64_t argument_number(const char *text) {
    char *end = NULL;
    unsigned long long number = strtoull(text, &end, 10);
    if (end == text || *end != 0 || number == 0) fail(text, "is no number above 0");
    return number;
}

static inline struct driver driver_make(uint64_t window, uint64_t count) {
    // A result that never comes ends this process.
    alarm(patience_seconds);
    struct driver driver = {.window = window, .count = count, .first = now_seconds()};
    driver.seen = calloc(count, 1);
    driver.began = calloc(count, sizeof(double));
    driver.taken = calloc(count, sizeof(double));
    if (!driver.seen || !driver.began || !driver.taken) fail("driver", "no memory");
    return driver;
}

// Whether another effect is to be asked for now; if so, its bytes.
static inline int driver_next(struct driver *driver, uint8_t bytes[effect_bytes]) {
    if (driver->asked == driver->count || driver->asked - driver->done == driver->window) return 0;
    memset(bytes, 0, effect_bytes);
    memcpy(bytes, &driver->asked, sizeof driver->asked);
    driver->began[driver->asked++] = now_seconds();
    return 1;
}

// A result has come. Ends this process when it was not asked for, or comes twice.
static inline void driver_result(struct driver *driver, const void *bytes, size_t size) {
    uint64_t number;
    if (size != effect_bytes) fail("driver", "a result is not of the size of its job");
    memcpy(&number, bytes, sizeof number);
    if (number >= driver->asked) fail("driver", "a result is of an effect that was not asked for");
    if (driver->seen[number]) fail("driver", "a result came twice");
    driver->seen[number] = 1;
    driver->taken[driver->done++] = now_seconds() - driver->began[number];
}

static int driver_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Prints what was measured: every effect that was asked for has one result.
static inline void driver_report(struct driver *driver) {
    double seconds = now_seconds() - driver->first;
    for (uint64_t number = 0; number < driver->count; number++)
        if (!driver->seen[number]) fail("driver", "a result is missing");
    qsort(driver->taken, driver->count, sizeof(double), driver_compare);
    printf("seconds %.6f\np50 %.1f\nchecked %llu\n", seconds, driver->taken[driver->count / 2] * 1e6,
           (unsigned long long)driver->count);
}
