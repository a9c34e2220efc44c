// Redis Streams through hiredis, over a unix socket: jobs in one stream, read by a group of workers, results in another.
//
//   redis-peer worker SOCKET NAME
//   redis-peer driver SOCKET WINDOW COUNT
//
// A worker acknowledges a job behind its result, so that one that dies loses none. All is pipelined: what a batch
// leads to and the wait for the next batch leave together.
#include <hiredis/hiredis.h>

#include "driver.h"

static redisContext *connected(const char *path) {
    redisContext *context = redisConnectUnix(path);
    if (!context) fail(path, "no memory");
    if (context->err) fail(path, context->errstr);
    return context;
}

static redisReply *reply(redisContext *context) {
    void *reply = NULL;
    if (redisGetReply(context, &reply) != REDIS_OK) fail("redis", context->errstr);
    redisReply *answer = reply;
    if (answer->type == REDIS_REPLY_ERROR) fail("redis", answer->str);
    return answer;
}

static void skip_replies(redisContext *context, size_t count) {
    while (count--) freeReplyObject(reply(context));
}

// The entries of the only stream in the answer of XREAD and XREADGROUP.
static redisReply *entries(redisReply *answer) {
    if (answer->type != REDIS_REPLY_ARRAY || answer->elements != 1 || answer->element[0]->elements != 2)
        fail("redis", "an answer is not of one stream");
    return answer->element[0]->element[1];
}

// The value of an entry's only field.
static redisReply *value(redisReply *entry) {
    if (entry->elements != 2 || entry->element[1]->elements != 2) fail("redis", "an entry has not one field");
    return entry->element[1]->element[1];
}

static void add(redisContext *context, const char *stream, const void *bytes, size_t size) {
    redisAppendCommand(context, "XADD %s * e %b", stream, bytes, size);
}

static void work(const char *path, const char *name) {
    redisContext *context = connected(path);
    redisReply *made = redisCommand(context, "XGROUP CREATE jobs workers 0 MKSTREAM");
    if (!made) fail("redis", context->errstr);
    // The other worker may have made it.
    if (made->type == REDIS_REPLY_ERROR && strncmp(made->str, "BUSYGROUP", 9) != 0) fail("redis", made->str);
    freeReplyObject(made);
    printf("ready 1\n");
    fflush(stdout);
    size_t added = 0;
    for (;;) {
        redisAppendCommand(context, "XREADGROUP GROUP workers %s COUNT %d BLOCK 0 STREAMS jobs >", name, batch_max);
        skip_replies(context, added);
        redisReply *answer = reply(context);
        redisReply *jobs = entries(answer);
        const char *words[3 + batch_max] = {"XACK", "jobs", "workers"};
        size_t sizes[3 + batch_max] = {4, 4, 7};
        if (jobs->elements > batch_max) fail("redis", "a batch is larger than it was asked for");
        for (size_t job = 0; job < jobs->elements; job++) {
            redisReply *bytes = value(jobs->element[job]);
            add(context, "results", bytes->str, bytes->len);
            words[3 + job] = jobs->element[job]->element[0]->str;
            sizes[3 + job] = jobs->element[job]->element[0]->len;
        }
        redisAppendCommandArgv(context, (int)(3 + jobs->elements), words, sizes);
        added = jobs->elements + 1;
        freeReplyObject(answer);
    }
}

static void drive(const char *path, uint64_t window, uint64_t count) {
    redisContext *context = connected(path);
    struct driver driver = driver_make(window, count);
    uint8_t bytes[effect_bytes];
    char last[64] = "0-0";
    while (driver.done < driver.count) {
        size_t added = 0;
        for (; driver_next(&driver, bytes); added++) add(context, "jobs", bytes, effect_bytes);
        redisAppendCommand(context, "XREAD COUNT %d BLOCK 0 STREAMS results %s", batch_max, last);
        skip_replies(context, added);
        redisReply *answer = reply(context);
        redisReply *results = entries(answer);
        for (size_t result = 0; result < results->elements; result++) {
            redisReply *entry = value(results->element[result]);
            driver_result(&driver, entry->str, entry->len);
        }
        snprintf(last, sizeof last, "%s", results->element[results->elements - 1]->element[0]->str);
        freeReplyObject(answer);
    }
    driver_report(&driver);
    redisReply *length = redisCommand(context, "XLEN results");
    if (!length || length->type != REDIS_REPLY_INTEGER || length->integer != (long long)count)
        fail("redis", "there are more results than effects");
    freeReplyObject(length);
    redisFree(context);
}

int main(int count, char **words) {
    if (count == 4 && strcmp(words[1], "worker") == 0) {
        work(words[2], words[3]);
    } else if (count == 5 && strcmp(words[1], "driver") == 0) {
        drive(words[2], argument_number(words[3]), argument_number(words[4]));
    } else {
        fail("redis-peer", "worker SOCKET NAME, or driver SOCKET WINDOW COUNT");
    }
    return 0;
}
