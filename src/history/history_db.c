/* Opening a history: a new one gets its tables, a foreign or damaged file is refused in words. */
#include "history/history_db.h"

#include "base/interrupt.h"
#include "base/output.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { APPLICATION_ID = 0x50494f4c /* "PIOL" */, FORMAT_VERSION = 3, BUSY_MS = 60000, VALUE_BYTES_MAX = 64 << 20 };

/* As sqlite_master has them. A file with anything else in it is not ours: a view or a trigger of somebody would be run
 * by our own statements. */
static const char *const TABLES[] = {
    "CREATE TABLE block(key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, class TEXT NOT NULL, testname TEXT NOT NULL,"
    " label TEXT NOT NULL, measured TEXT NOT NULL, added TEXT NOT NULL, host TEXT NOT NULL, place TEXT NOT NULL,"
    " mpiio TEXT NOT NULL, software TEXT NOT NULL, conditions TEXT NOT NULL, ranks INTEGER NOT NULL,"
    " sets INTEGER NOT NULL, bytes INTEGER NOT NULL, complete INTEGER NOT NULL)",
    "CREATE TABLE chunk(block INTEGER NOT NULL REFERENCES block(key) ON DELETE CASCADE, number INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, UNIQUE(block, number))",
    "CREATE TABLE quantity(id INTEGER PRIMARY KEY, class TEXT NOT NULL, testname TEXT NOT NULL, what TEXT NOT NULL,"
    " settings TEXT NOT NULL, conditions TEXT NOT NULL, unit TEXT NOT NULL, lower_is_better INTEGER NOT NULL,"
    " UNIQUE(class, testname, what, settings, conditions, unit))",
    "CREATE TABLE value(block INTEGER NOT NULL REFERENCES block(key) ON DELETE CASCADE,"
    " quantity INTEGER NOT NULL REFERENCES quantity(id), value REAL NOT NULL, UNIQUE(block, quantity))"};
enum { TABLE_COUNT = sizeof TABLES / sizeof TABLES[0] };

/* ---- bounds ---- */

/* A damaged file may send SQLite around in circles, so that a statement never ends. One that reads everything needs a
 * few steps for each byte. */
enum { STEPS_CHUNK = 1000 };
#ifdef PIOLET_FUZZ
#define STEPS_MIN INT64_C(20000)
#else
#define STEPS_MIN INT64_C(2000000)
#endif
#define STEPS_BYTE INT64_C(100) /* allowed for each byte of the file */

static int count_steps(void *context)
{
    struct history *history = context;
    return (history->steps_left -= STEPS_CHUNK) < 0;
}

static void allow_steps(struct history *history)
{
    struct stat info;
    const int64_t bytes = stat(history->path, &info) == 0 ? info.st_size : 0;
    history->steps_left = bytes < INT64_MAX / STEPS_BYTE - STEPS_MIN ? STEPS_MIN + STEPS_BYTE * bytes : INT64_MAX;
}

/* ---- failures ---- */

pl_status history_fail(const struct history *history, const char *what, struct pl_error *error)
{
    const char *path = history->path, *says = sqlite3_errmsg(history->db);
    switch (sqlite3_errcode(history->db)) {
    case SQLITE_NOTADB:
        return pl_fail(error, PL_E_FORMAT, "'%s' is no history of piolet: it is not an SQLite database", path);
    case SQLITE_CORRUPT:
        return pl_fail(error, PL_E_FORMAT,
                       "the history '%s' is damaged (%s); move it away and add the block files again", path, says);
    case SQLITE_INTERRUPT:
        return pl_fail(
            error, PL_E_FORMAT,
            "the history '%s' is damaged: reading it takes more steps than its size allows for; move it away "
            "and add the block files again",
            path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return pl_fail(error, PL_E_IN_USE, "the history '%s' was in use by another process for %d s", path,
                       BUSY_MS / 1000);
    case SQLITE_FULL:
        return pl_fail(error, PL_E_SPACE, "%s '%s': no space left", what, path);
    case SQLITE_READONLY:
        return pl_fail(error, PL_E_READ_ONLY, "%s '%s': it cannot be written", what, path);
    case SQLITE_NOMEM:
        return pl_fail(error, PL_E_NOMEM, "%s '%s': not enough memory", what, path);
    default:
        return pl_fail(error, PL_E_IO, "%s the history '%s': %s", what, path, says);
    }
}

pl_status history_exec(struct history *history, const char *sql, struct pl_error *error)
{
    allow_steps(history);
    if (sqlite3_exec(history->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return history_fail(history, "using", error);
    return PL_OK;
}

pl_status history_prepare(struct history *history, const char *sql, sqlite3_stmt **ret_statement,
                          struct pl_error *error)
{
    allow_steps(history);
    if (sqlite3_prepare_v2(history->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
        return history_fail(history, "reading", error);
    return PL_OK;
}

pl_status history_step(struct history *history, sqlite3_stmt *statement, struct pl_error *error)
{
    if (history->steps_left < STEPS_MIN) /* a statement that is used again begins anew */
        allow_steps(history);
    if (interrupt_noted())
        return pl_fail(error, PL_E_SYSTEM, "interrupted"); /* is rolled back */
    const int code = sqlite3_step(statement);
    const pl_status status = code == SQLITE_DONE || code == SQLITE_ROW ? PL_OK
                                                                       : history_fail(history, "writing", error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

void history_bind_text(sqlite3_stmt *statement, int number, const char *text)
{
    assert(number >= 1 && number <= sqlite3_bind_parameter_count(statement));
    sqlite3_bind_text(statement, number, text ? text : "", -1, SQLITE_STATIC);
}

pl_status history_begin(struct history *history, struct pl_error *error)
{
    assert(sqlite3_get_autocommit(history->db)); /* transactions are not nested */
    const pl_status status = history_exec(history, "BEGIN IMMEDIATE", error);
    if (status == PL_OK)
        interrupt_hold(); /* the journal of a transaction that is cut off would stay beside the history */
    return status;
}

pl_status history_end(struct history *history, pl_status status, struct pl_error *error)
{
    assert(status != PL_OK || !sqlite3_get_autocommit(history->db)); /* a failure may have rolled back already */
    if (status == PL_OK)
        status = history_exec(history, "COMMIT", error);
    if (status != PL_OK)
        sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    interrupt_release();
    return status;
}

/* ---- opening ---- */

static pl_status number_of(struct history *history, const char *sql, int64_t *ret_number, struct pl_error *error)
{
    sqlite3_stmt *statement = NULL;
    pl_status status = history_prepare(history, sql, &statement, error);
    if (status == PL_OK && sqlite3_step(statement) == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(statement, 0);
    else if (status == PL_OK)
        status = history_fail(history, "reading", error);
    sqlite3_finalize(statement);
    return status;
}

/* In one transaction: of several that find an empty file, one makes the tables. */
static pl_status make_tables(struct history *history, struct pl_error *error)
{
    char sql[128];
    int64_t tables = 0;
    pl_status status = history_begin(history, error);
    if (status != PL_OK)
        return status;
    status = number_of(history, "SELECT count(*) FROM sqlite_master", &tables, error);
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION_ID, FORMAT_VERSION);
    for (size_t i = 0; i < TABLE_COUNT && status == PL_OK && tables == 0; i++)
        status = history_exec(history, TABLES[i], error);
    if (status == PL_OK && tables == 0)
        status = history_exec(history, sql, error);
    return history_end(history, status, error);
}

/* Whether the file holds our four tables, the indexes that these bring, and nothing else. */
static pl_status check_tables(struct history *history, struct pl_error *error)
{
    static const char sql[] = "SELECT sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)";
    sqlite3_stmt *rows = NULL;
    size_t found = 0;
    bool known = true;
    int code = SQLITE_DONE;
    pl_status status = history_prepare(history, sql, &rows, error);
    while (status == PL_OK && known && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(rows, 0);
        known = false;
        for (size_t i = 0; i < TABLE_COUNT; i++)
            known |= text && strcmp(text, TABLES[i]) == 0;
        found += known;
    }
    if (status == PL_OK && known && code != SQLITE_DONE)
        status = history_fail(history, "reading", error);
    else if (status == PL_OK && (!known || found != TABLE_COUNT))
        status = pl_fail(error, PL_E_FORMAT, "'%s' is no history of piolet: its tables are not those that piolet makes",
                         history->path);
    sqlite3_finalize(rows);
    return status;
}

/* Of format 1: rates of many ranks were by calls and called rates; rates are by one clock since then, and the two must
 * not be compared. A file that cannot be changed keeps its names. */
static const char CALL_RATES[] = "UPDATE quantity SET what = what || ', by calls' WHERE unit = 'MB/s' AND"
                                 " class IN ('Lowlevel', 'Kernel', 'Apps', 'Peak') AND what NOT LIKE '%, by calls';";
/* Up to format 2: rates of other definitions had the same names. */
static const char OTHER_RATES[] =
    "UPDATE quantity SET what = what || ' of the job' WHERE class = 'Gpfs' AND what IN ('write rate', 'read rate');"
    "UPDATE quantity SET what = what || ', first start to last end' WHERE class = 'Piobench' AND"
    " what IN ('write rate', 'read rate');"
    "UPDATE quantity SET what = 'rate, slowest rank' WHERE class = 'Engine' AND what = 'rate';";

static pl_status rename_rates(struct history *history, int64_t version, struct pl_error *error)
{
    char end[64];
    pl_status status = history_begin(history, error);
    if (status != PL_OK)
        return sqlite3_errcode(history->db) == SQLITE_READONLY ? PL_OK : status;
    snprintf(end, sizeof end, "PRAGMA user_version=%d", FORMAT_VERSION);
    if (version < 2)
        status = history_exec(history, CALL_RATES, error);
    if (status == PL_OK)
        status = history_exec(history, OTHER_RATES, error);
    if (status == PL_OK)
        status = history_exec(history, end, error);
    return history_end(history, status, error);
}

static pl_status check_format(struct history *history, bool create, struct pl_error *error)
{
    int64_t application = 0, version = 0, tables = 0;
    pl_status status = number_of(history, "SELECT count(*) FROM sqlite_master", &tables, error);
    if (status == PL_OK && tables == 0 && create)
        status = make_tables(history, error);
    else if (status == PL_OK && tables == 0)
        return pl_fail(error, PL_E_NO_SUCH_FILE, "there is nothing in '%s' yet; 'piolet history add FILE' begins it",
                       history->path);
    if (status == PL_OK)
        status = number_of(history, "PRAGMA application_id", &application, error);
    if (status == PL_OK)
        status = number_of(history, "PRAGMA user_version", &version, error);
    if (status != PL_OK)
        return status;
    if (application != APPLICATION_ID)
        return pl_fail(error, PL_E_FORMAT, "'%s' is no history of piolet: it is the database of another program",
                       history->path);
    if (version < 1 || version > FORMAT_VERSION)
        return pl_fail(error, PL_E_FORMAT, "the history '%s' has format %lld; this version of piolet knows %d",
                       history->path, (long long)version, FORMAT_VERSION);
    status = check_tables(history, error);
    return status == PL_OK && version < FORMAT_VERSION ? rename_rates(history, version, error) : status;
}

static pl_status prepare_handle(struct history *history, bool create, struct pl_error *error)
{
    const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(history->path, &history->db, flags, NULL) != SQLITE_OK)
        return pl_fail(error, PL_E_NO_SUCH_FILE, "cannot open the history '%s': %s", history->path,
                       history->db ? sqlite3_errmsg(history->db) : "not enough memory");
    sqlite3_busy_timeout(history->db, BUSY_MS);
    sqlite3_progress_handler(history->db, STEPS_CHUNK, count_steps, history);
    sqlite3_db_config(history->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(history->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(history->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    const pl_status status = history_exec(history, "PRAGMA foreign_keys=ON", error);
    return status == PL_OK ? check_format(history, create, error) : status;
}

/* No export may replace the database, nor what SQLite puts beside it. */
static void reserve_files(const char *path)
{
    static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct text name = {0};
        text_format(&name, "%s%s", path, ends[i]);
        output_reserve(text_get(&name), "the history is");
        text_clear(&name);
    }
}

pl_status history_open(const char *path, bool create, struct history **ret_history, struct pl_error *error)
{
    struct stat info;
    if (!create && stat(path, &info) != 0 && errno == ENOENT)
        return pl_fail(error, PL_E_NO_SUCH_FILE, "there is no history '%s' yet; 'piolet history add FILE' begins it",
                       path);
    struct history *history = calloc(1, sizeof *history);
    if (!history || !(history->path = text_dup(path))) {
        free(history);
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    }
    reserve_files(path);
    const pl_status status = prepare_handle(history, create, error);
    if (status == PL_OK)
        *ret_history = history;
    else
        history_close(history);
    return status;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    sqlite3_close(history->db);
    free(history->path);
    free(history);
}

/* ---- where it is ---- */

pl_status history_default_path(bool create, struct text *ret_path, struct pl_error *error)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && data[0] == '/') /* a relative one is to be ignored, says the specification */
        text_format(ret_path, "%s/piolet", data);
    else if (home && home[0] == '/')
        text_format(ret_path, "%s/.local/share/piolet", home);
    else
        return pl_fail(error, PL_E_INPUT, "neither XDG_DATA_HOME nor HOME is set: name a history with --db");
    for (char *slash = ret_path->failed ? NULL : strchr(ret_path->data + 1, '/'); create && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(ret_path->data, 0777);
        *slash = '/';
    }
    if (create && !ret_path->failed && mkdir(ret_path->data, 0777) != 0 && errno != EEXIST)
        return pl_fail_errno(error, errno, "cannot make the directory '%s'", ret_path->data);
    text_add(ret_path, "/history.db");
    return ret_path->failed ? pl_fail(error, PL_E_NOMEM, "not enough memory") : PL_OK;
}
