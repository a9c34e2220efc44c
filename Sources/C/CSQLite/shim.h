// SQLite, and its variadic calls as typed ones.
#ifndef LOOP_CSQLITE_SHIM_H
#define LOOP_CSQLITE_SHIM_H

#include <sqlite3.h>
#include <stdlib.h>

// Whether closing the last connection leaves the write-ahead log alone, or brings it into the file and removes it.
static inline int loop_sqlite_keep_log(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

static inline int loop_sqlite_note_log(void *pages, sqlite3 *database, const char *name, int count) {
    (void)database;
    (void)name;
    *(int *)pages = count;
    return SQLITE_OK;
}

// After each commit the number of pages in the log is written there. SQLite itself then never brings the log into the
// file on its own, where the caller would not hear of an error. NULL ends it.
static inline void loop_sqlite_watch_log(sqlite3 *database, int *pages) {
    sqlite3_wal_hook(database, pages ? loop_sqlite_note_log : NULL, pages);
}

// What a file says of itself decides nothing: no trigger, view or function out of its schema runs, no text in double quotes is
// taken for a name or a value, no page is read whose cells overlap, and no value is longer than `bytes_max`. A result code.
static inline int loop_sqlite_defend(sqlite3 *database, int bytes_max) {
    const int off[] = {
        SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_WRITABLE_SCHEMA, SQLITE_DBCONFIG_DQS_DML,
        SQLITE_DBCONFIG_DQS_DDL,
    };
    int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    for (size_t i = 0; result == SQLITE_OK && i < sizeof off / sizeof *off; i++)
        result = sqlite3_db_config(database, off[i], 0, (int *)0);
    if (result == SQLITE_OK) result = sqlite3_exec(database, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, bytes_max);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
    return result;
}

// The first bytes of a file, by the layer that SQLite opens files with: a descriptor of anybody else's, when it is closed,
// drops the locks that SQLite has on the file in this process. How many there were, or minus a result code.
static inline int loop_sqlite_beginning(const char *path, void *bytes, int count) {
    sqlite3_vfs *layer = sqlite3_vfs_find(NULL);
    sqlite3_file *file = layer ? calloc(1, (size_t)layer->szOsFile) : NULL;
    // What follows the name is where SQLite keeps the parameters of a URI: there are none.
    char *full = layer ? calloc(1, (size_t)layer->mxPathname + 8) : NULL;
    int result = file && full ? layer->xFullPathname(layer, path, layer->mxPathname, full) : SQLITE_NOMEM;
    if ((result & 0xff) == SQLITE_OK) {
        result = layer->xOpen(layer, full, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
        if (result == SQLITE_OK) {
            sqlite3_int64 size = 0;
            result = file->pMethods->xFileSize(file, &size);
            if (size < count) count = (int)size;
            if (result == SQLITE_OK && count > 0) result = file->pMethods->xRead(file, bytes, count, 0);
            file->pMethods->xClose(file);
        }
    }
    free(full);
    free(file);
    return result == SQLITE_OK ? count : -result;
}

#endif
