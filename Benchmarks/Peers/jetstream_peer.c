// NATS JetStream through libnats: jobs in one stream on disk, pushed to a group of workers, results in another.
//
//   jetstream-peer worker URL
//   jetstream-peer driver URL WINDOW COUNT
//
// A worker acknowledges a batch of jobs once the server has stored all their results, so that one that dies loses none.
// Start a worker when the one before is ready: the first makes the group.
#include <nats/nats.h>

#include "driver.h"

enum { wait_ms = 60000 };

static void check(const char *what, natsStatus status) {
    if (status != NATS_OK) fail(what, nats_GetLastError(NULL) ? nats_GetLastError(NULL) : natsStatus_GetText(status));
}

static void not_stored(jsCtx *stream, jsPubAckErr *error, void *closure) {
    (void)stream, (void)closure;
    fail("a message was not stored", error->ErrText);
}

// At once: whether what is published leaves without waiting for more.
static jsCtx *connected(const char *url, int at_once) {
    natsOptions *options = NULL;
    natsConnection *connection = NULL;
    jsCtx *stream = NULL;
    jsOptions js;
    check("options", natsOptions_Create(&options));
    check(url, natsOptions_SetURL(options, url));
    check("options", natsOptions_SetSendAsap(options, at_once));
    check(url, natsConnection_Connect(&connection, options));
    check("options", jsOptions_Init(&js));
    js.PublishAsync.ErrHandler = not_stored;
    check("JetStream", natsConnection_JetStream(&stream, connection, &js));
    return stream;
}

static void make_stream(jsCtx *stream, const char *name, jsRetentionPolicy retention) {
    jsStreamConfig config;
    const char *subjects[] = {name};
    check("stream", jsStreamConfig_Init(&config));
    config.Name = name;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Retention = retention;
    check("stream", js_AddStream(NULL, stream, &config, NULL, NULL));
}

static void publish(jsCtx *stream, const char *name, const void *bytes, int size) {
    check("publish", js_PublishAsync(stream, name, bytes, size, NULL));
}

// Waits for a message, and takes all that are there, at most `batch_max`.
static int take(natsSubscription *subscription, natsMsg *messages[batch_max]) {
    natsStatus status;
    while ((status = natsSubscription_NextMsg(&messages[0], subscription, wait_ms)) == NATS_TIMEOUT) {}
    check("next message", status);
    uint64_t queued = 0;
    check("queued messages", natsSubscription_QueuedMsgs(subscription, &queued));
    int taken = 1;
    for (; taken < batch_max && queued > 0; taken++, queued--)
        check("next message", natsSubscription_NextMsg(&messages[taken], subscription, wait_ms));
    return taken;
}

static void work(const char *url) {
    jsCtx *stream = connected(url, 1);
    make_stream(stream, "jobs", js_WorkQueuePolicy);
    make_stream(stream, "results", js_LimitsPolicy);
    natsSubscription *subscription = NULL;
    jsSubOptions options;
    check("subscription", jsSubOptions_Init(&options));
    options.Queue = "workers";
    options.ManualAck = true;
    options.Config.AckPolicy = js_AckExplicit;
    options.Config.MaxAckPending = 65536;
    check("subscription", js_SubscribeSync(&subscription, stream, "jobs", NULL, &options, NULL));
    printf("ready 1\n");
    fflush(stdout);
    natsMsg *jobs[batch_max];
    for (;;) {
        int count = take(subscription, jobs);
        for (int job = 0; job < count; job++)
            publish(stream, "results", natsMsg_GetData(jobs[job]), natsMsg_GetDataLength(jobs[job]));
        check("publish", js_PublishAsyncComplete(stream, NULL));
        for (int job = 0; job < count; job++) {
            check("acknowledge", natsMsg_Ack(jobs[job], NULL));
            natsMsg_Destroy(jobs[job]);
        }
    }
}

static void drive(const char *url, uint64_t window, uint64_t count) {
    jsCtx *stream = connected(url, 1);
    natsSubscription *subscription = NULL;
    jsSubOptions options;
    check("subscription", jsSubOptions_Init(&options));
    options.Config.AckPolicy = js_AckNone;
    check("subscription", js_SubscribeSync(&subscription, stream, "results", NULL, &options, NULL));
    struct driver driver = driver_make(window, count);
    uint8_t bytes[effect_bytes];
    natsMsg *results[batch_max];
    while (driver.done < driver.count) {
        while (driver_next(&driver, bytes)) publish(stream, "jobs", bytes, effect_bytes);
        int taken = take(subscription, results);
        for (int result = 0; result < taken; result++) {
            driver_result(&driver, natsMsg_GetData(results[result]), (size_t)natsMsg_GetDataLength(results[result]));
            natsMsg_Destroy(results[result]);
        }
    }
    driver_report(&driver);
    check("publish", js_PublishAsyncComplete(stream, NULL));
    jsStreamInfo *info = NULL;
    check("stream", js_GetStreamInfo(&info, stream, "results", NULL, NULL));
    if (info->State.Msgs != count) fail("JetStream", "there are more results than effects");
    jsStreamInfo_Destroy(info);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "worker") == 0) {
        work(words[2]);
    } else if (count == 5 && strcmp(words[1], "driver") == 0) {
        drive(words[2], argument_number(words[3]), argument_number(words[4]));
    } else {
        fail("jetstream-peer", "worker URL, or driver URL WINDOW COUNT");
    }
    return 0;
}
