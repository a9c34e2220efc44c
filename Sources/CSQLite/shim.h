// SQLite, and its variadic calls as typed ones.
#ifndef LOOP_CSQLITE_SHIM_H
#define LOOP_CSQLITE_SHIM_H

#include <sqlite3.h>

// Whether closing the last connection leaves the write-ahead log alone, or brings it into the file and removes it.
static inline int loop_sqlite_keep_log(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

// No trigger, view or function out of a file's schema runs.
static inline int loop_sqlite_defend(sqlite3 *database) {
    int result = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return result ? result : sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

#endif
