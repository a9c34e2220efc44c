// libpq, PostgreSQL's client library.
#ifndef LOOP_CPQ_SHIM_H
#define LOOP_CPQ_SHIM_H

#include <stdbool.h>
#include <string.h>

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

// The types that parameters are declared as. (pg_type.dat)
enum {
    LOOP_PG_BYTEA = 17,
    LOOP_PG_INT8 = 20,
    LOOP_PG_TEXT = 25,
};

// Macros that are characters, as numbers.
enum {
    LOOP_PG_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED,
    LOOP_PG_SQLSTATE = PG_DIAG_SQLSTATE,
    LOOP_PG_MESSAGE = PG_DIAG_MESSAGE_PRIMARY,
};

// What a notice of the server says, as far as its receiver keeps it.
struct loop_pg_notices {
    int warnings_count;
    // The wait for a synchronous standby was ended.
    bool is_unconfirmed;
    char code[6];
    char text[256];
};

static inline void loop_pg_note(void *kept, const PGresult *notice) {
    struct loop_pg_notices *notices = (struct loop_pg_notices *)kept;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *code = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    if (!severity || severity[0] != 'W') return;
    // The text may be in any language.
    const char *function = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    if (function && strcmp(function, "SyncRepWaitForLSN") == 0) notices->is_unconfirmed = true;
    if (notices->warnings_count++ > 0) return;
    int length = 0;
    while (code && code[length] && length < 5) {
        notices->code[length] = code[length];
        length++;
    }
    notices->code[length] = 0;
    length = 0;
    while (text && text[length] && length < 255) {
        notices->text[length] = text[length];
        length++;
    }
    notices->text[length] = 0;
}

// The first warning of the server, and how many there are, are written there from now on.
static inline void loop_pg_receive_notices(PGconn *connection, struct loop_pg_notices *notices) {
    PQsetNoticeReceiver(connection, loop_pg_note, notices);
}

#endif
