/* Inside of src/history: the SQLite handle, and words for its failures. */
#ifndef PIOLET_HISTORY_HISTORY_DB_H
#define PIOLET_HISTORY_HISTORY_DB_H

#include "history/history.h"

#include <sqlite3.h>

struct history {
    sqlite3 *db;
    char *path;
    int64_t steps_left; /* of SQLite's machine, for this statement */
};

/* What SQLite has to complain of, while doing `what`. */
pl_status history_fail(const struct history *history, const char *what, struct pl_error *error);

pl_status history_exec(struct history *history, const char *sql, struct pl_error *error);
pl_status history_prepare(struct history *history, const char *sql, sqlite3_stmt **ret_statement,
                          struct pl_error *error);
/* Runs a statement that gives no rows, and makes it ready for the next values. */
pl_status history_step(struct history *history, sqlite3_stmt *statement, struct pl_error *error);
/* The text stays where it is until the statement is run. */
void history_bind_text(sqlite3_stmt *statement, int number, const char *text);

/* Begins a transaction. A signal ends it, and then the program. */
pl_status history_begin(struct history *history, struct pl_error *error);
/* Ends a transaction: keeps it if `status` is PL_OK, else takes it back. Returns how all went. */
pl_status history_end(struct history *history, pl_status status, struct pl_error *error);

#endif
