#include "reference.h"
#include <endian.h>
#include <postgresql/libpq-fe.h>
#include <stdio.h>

enum { bytea = 17, int8 = 20 };

static int failed(struct reference_table *table, const char *why) {
    snprintf(table->error, sizeof table->error, "%s", why);
    return -1;
}

static int run(struct reference_table *table, const char *statement) {
    PGresult *result = PQexec(table->connection, statement);
    int is_done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return is_done ? 0 : failed(table, PQerrorMessage(table->connection));
}

// Batches are stored as those of Loop are.
int reference_table_open(struct reference_table *table, const char *url) {
    *table = (struct reference_table){.connection = PQconnectdb(url)};
    if (PQstatus(table->connection) != CONNECTION_OK) return failed(table, PQerrorMessage(table->connection));
    if (run(table, "CREATE TABLE reference (position bigint PRIMARY KEY, records bytea NOT NULL)"
                   " WITH (toast_tuple_target = 8160)") ||
        run(table, "ALTER TABLE reference ALTER records SET STORAGE EXTERNAL"))
        return -1;
    Oid types[] = {int8, bytea};
    PGresult *result = PQprepare(table->connection, "insert", "INSERT INTO reference VALUES ($1, $2)", 2, types);
    int is_done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (!is_done) return failed(table, PQerrorMessage(table->connection));
    return PQenterPipelineMode(table->connection) ? 0 : failed(table, "there is no pipeline");
}

static int begin(struct reference_table *table, const void *batch, uint64_t bytes) {
    uint64_t position = htobe64(++table->position);
    const char *values[] = {(const char *)&position, batch};
    int lengths[] = {sizeof position, (int)bytes}, formats[] = {1, 1};
    if (!PQsendQueryPrepared(table->connection, "insert", 2, values, lengths, formats, 0) ||
        !PQpipelineSync(table->connection))
        return failed(table, PQerrorMessage(table->connection));
    return 0;
}

static ExecStatusType next_status(struct reference_table *table) {
    PGresult *result = PQgetResult(table->connection);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status;
}

// Waits for a commit: the statement's result, nothing behind it, and then the answer to the synchronisation, which has committed it.
static int finish(struct reference_table *table) {
    if (next_status(table) != PGRES_COMMAND_OK || PQgetResult(table->connection) != NULL ||
        next_status(table) != PGRES_PIPELINE_SYNC)
        return failed(table, PQerrorMessage(table->connection));
    return 0;
}

int reference_table_insert(
    struct reference_table *table, const void *batch, uint64_t bytes, uint64_t count, uint64_t depth) {
    for (uint64_t begun = 0, finished = 0; finished < count; finished++) {
        for (; begun < count && begun - finished < depth; begun++)
            if (begin(table, batch, bytes)) return -1;
        if (finish(table)) return -1;
    }
    return 0;
}

void reference_table_close(struct reference_table *table) {
    PQfinish(table->connection);
    table->connection = NULL;
}
