// SQLite, and its variadic calls as typed ones.
#ifndef LOOP_CSQLITE_SHIM_H
#define LOOP_CSQLITE_SHIM_H

#include <sqlite3.h>

// Closing the last connection leaves the write-ahead log alone: who wants it in the file says so.
static inline int loop_sqlite_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Pages that were deleted once are never trusted from a damaged schema: no triggers, views or functions out of the file run.
static inline int loop_sqlite_defend(sqlite3 *database) {
    int result = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return result ? result : sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

#endif
