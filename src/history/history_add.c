/* Blocks on their way into a history. */
#include "base/clock.h"
#include "history/history_cut.h"
#include "history/history_db.h"
#include "history/history_quantity.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20 };

/* One file being added. */
struct adding {
    struct history *history;
    struct blockfile file;
    struct history_pieces pieces;
    struct history_quantities *quantities; /* of each block */
    const char *label;
    char now[CLOCK_STAMP_MAX];
    sqlite3_stmt *find, *relabel, *drop, *block, *chunk, *quantity, *value;
    struct history_added added;
};

/* ---- statements ---- */

static pl_status prepare_all(struct adding *adding, struct pl_error *error)
{
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } statements[] = {
        {&adding->find, "SELECT key, complete, sets, label FROM block WHERE id = ?1"},
        {&adding->relabel, "UPDATE block SET label = ?2 WHERE id = ?1"},
        {&adding->drop, "DELETE FROM block WHERE id = ?1"},
        {&adding->block, "INSERT INTO block(id, class, testname, label, measured, added, host, place, mpiio, software,"
                         " conditions, ranks, sets, bytes, complete)"
                         " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"},
        {&adding->chunk, "INSERT INTO chunk(block, number, bytes) VALUES(?1, ?2, ?3)"},
        {&adding->quantity, "INSERT INTO quantity(class, testname, what, settings, conditions, unit, lower_is_better)"
                            " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING"},
        {&adding->value,
         "INSERT INTO value(block, quantity, value) SELECT ?7, id, ?8 FROM quantity WHERE class = ?1 AND"
         " testname = ?2 AND what = ?3 AND settings = ?4 AND conditions = ?5 AND unit = ?6"},
    };
    pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && status == PL_OK; i++)
        status = history_prepare(adding->history, statements[i].sql, statements[i].statement, error);
    return status;
}

static void finalize_all(struct adding *adding)
{
    sqlite3_stmt *const statements[] = {adding->find,  adding->relabel,  adding->drop, adding->block,
                                        adding->chunk, adding->quantity, adding->value};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        sqlite3_finalize(statements[i]);
}

/* ---- one block ---- */

static const char *fact_of(const struct blockfile_block *block, const char *key)
{
    const char *value = blockfile_fact_of(block, key);
    return value ? value : "";
}

static pl_status insert_block(struct adding *adding, const struct blockfile_block *block, int64_t bytes,
                              const char *label, const char *conditions, struct pl_error *error)
{
    sqlite3_stmt *statement = adding->block;
    struct text place = {0}, software = {0};
    text_format(&place, "%s %s", fact_of(block, "filesystem"), fact_of(block, "filesystem_source"));
    const char *library = fact_of(block, "mpi_library"); /* Open MPI tells who packed it, too */
    text_format(&software, "piolet %s, %.*s, %s", fact_of(block, "product_version"), (int)strcspn(library, ","),
                library, fact_of(block, "mpiio"));
    const char *const texts[] = {block->id,
                                 block->class_name,
                                 block->testname,
                                 label,
                                 fact_of(block, "timestamp"),
                                 adding->now,
                                 fact_of(block, "hostname"),
                                 text_get(&place),
                                 fact_of(block, "mpiio"),
                                 text_get(&software),
                                 conditions};
    const int count = sizeof texts / sizeof texts[0];
    for (int i = 0; i < count; i++)
        history_bind_text(statement, i + 1, texts[i]);
    sqlite3_bind_int64(statement, count + 1, atoll(fact_of(block, "nprocs")));
    sqlite3_bind_int64(statement, count + 2, (int64_t)block->set_count);
    sqlite3_bind_int64(statement, count + 3, bytes);
    sqlite3_bind_int(statement, count + 4, block->complete);
    const pl_status status = history_step(adding->history, statement, error);
    text_clear(&place);
    text_clear(&software);
    return status;
}

static pl_status insert_chunks(struct adding *adding, const struct history_piece *piece, int64_t key,
                               struct pl_error *error)
{
    char *buffer = malloc(CHUNK_BYTES);
    pl_status status = buffer ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory");
    int64_t number = 0, at = piece->begin;
    while (status == PL_OK && at < piece->end) {
        const size_t wanted = piece->end - at < CHUNK_BYTES ? (size_t)(piece->end - at) : CHUNK_BYTES;
        const ssize_t got = pread(fileno(adding->file.stream), buffer, wanted, at);
        if (got <= 0) {
            status = pl_fail_errno(error, got < 0 ? errno : EIO, "reading '%s'", adding->file.path);
            break;
        }
        sqlite3_bind_int64(adding->chunk, 1, key);
        sqlite3_bind_int64(adding->chunk, 2, number++);
        sqlite3_bind_blob(adding->chunk, 3, buffer, (int)got, SQLITE_STATIC);
        status = history_step(adding->history, adding->chunk, error);
        at += got;
    }
    assert(status != PL_OK || at == piece->end); /* byte by byte */
    free(buffer);
    return status;
}

static void bind_quantity(sqlite3_stmt *statement, const struct blockfile_block *block,
                          const struct history_quantity *quantity, const char *conditions)
{
    history_bind_text(statement, 1, block->class_name);
    history_bind_text(statement, 2, block->testname);
    history_bind_text(statement, 3, quantity->what);
    history_bind_text(statement, 4, quantity->settings);
    history_bind_text(statement, 5, conditions);
    history_bind_text(statement, 6, quantity->unit);
}

static pl_status insert_quantities(struct adding *adding, size_t number, int64_t key, const char *conditions,
                                   struct pl_error *error)
{
    const struct history_quantities *quantities = &adding->quantities[number];
    assert(number < adding->file.block_count);
    const struct blockfile_block *block = &adding->file.blocks[number];
    pl_status status = PL_OK;
    for (size_t i = 0; i < quantities->count && status == PL_OK; i++) {
        const struct history_quantity *quantity = &quantities->list[i];
        bind_quantity(adding->quantity, block, quantity, conditions);
        sqlite3_bind_int(adding->quantity, 7, quantity->lower_is_better);
        status = history_step(adding->history, adding->quantity, error);
        if (status != PL_OK)
            break;
        bind_quantity(adding->value, block, quantity, conditions);
        sqlite3_bind_int64(adding->value, 7, key);
        sqlite3_bind_double(adding->value, 8, quantity->value);
        status = history_step(adding->history, adding->value, error);
    }
    adding->added.quantities += (int64_t)quantities->count;
    return status;
}

static pl_status history_add_insert(struct adding *adding, size_t number, const char *label, struct pl_error *error)
{
    const struct blockfile_block *block = &adding->file.blocks[number];
    const struct history_piece *piece = history_piece_at(&adding->pieces, block->line);
    struct text conditions = {0};
    if (!piece)
        return pl_fail(error, PL_E_DATA, "'%s' was changed while it was read", adding->file.path);
    history_conditions(block, &conditions);
    pl_status status = conditions.failed ? pl_fail(error, PL_E_NOMEM, "not enough memory") : PL_OK;
    if (status == PL_OK)
        status = insert_block(adding, block, piece->end - piece->begin, label, text_get(&conditions), error);
    const int64_t key = sqlite3_last_insert_rowid(adding->history->db);
    if (status == PL_OK)
        status = insert_chunks(adding, piece, key, error);
    if (status == PL_OK)
        status = insert_quantities(adding, number, key, text_get(&conditions), error);
    text_clear(&conditions);
    adding->added.incomplete += !block->complete;
    return status;
}

static pl_status run_with(struct adding *adding, sqlite3_stmt *statement, const char *id, const char *text,
                          struct pl_error *error)
{
    history_bind_text(statement, 1, id);
    if (text)
        history_bind_text(statement, 2, text);
    return history_step(adding->history, statement, error);
}

/* A block that is there already is left alone, unless its run was still going on then. */
static pl_status add_block(struct adding *adding, size_t number, struct pl_error *error)
{
    const struct blockfile_block *block = &adding->file.blocks[number];
    struct text label = {0};
    history_bind_text(adding->find, 1, block->id);
    const int found = sqlite3_step(adding->find);
    const bool known = found == SQLITE_ROW;
    const bool grows = known && !sqlite3_column_int(adding->find, 1) &&
                       (block->complete || (int64_t)block->set_count > sqlite3_column_int64(adding->find, 2));
    text_add(&label, adding->label ? adding->label : known ? (const char *)sqlite3_column_text(adding->find, 3) : "");
    sqlite3_reset(adding->find);
    pl_status status = known || found == SQLITE_DONE ? PL_OK : history_fail(adding->history, "reading", error);
    if (status == PL_OK && grows)
        status = run_with(adding, adding->drop, block->id, NULL, error);
    if (status == PL_OK && (grows || !known))
        status = history_add_insert(adding, number, text_get(&label), error);
    else if (status == PL_OK && adding->label)
        status = run_with(adding, adding->relabel, block->id, adding->label, error);
    adding->added.new_blocks += !known;
    adding->added.grown += grows;
    adding->added.known += known && !grows;
    text_clear(&label);
    return status;
}

/* ---- the file ---- */

/* All that takes long is done before the transaction: others wait for it. */
static pl_status look_at_blocks(struct adding *adding, struct pl_error *error)
{
    pl_status status = history_cut(fileno(adding->file.stream), adding->file.path, &adding->pieces, error);
    adding->quantities = calloc(adding->file.block_count + 1, sizeof *adding->quantities);
    if (status == PL_OK && !adding->quantities)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory");
    for (size_t i = 0; i < adding->file.block_count && status == PL_OK; i++)
        status = history_quantities_of(&adding->file, i, &adding->quantities[i], error);
    return status;
}

static pl_status add_blocks(struct adding *adding, struct pl_error *error)
{
    pl_status status = history_begin(adding->history, error);
    if (status != PL_OK)
        return status;
    status = prepare_all(adding, error);
    for (size_t i = 0; i < adding->file.block_count && status == PL_OK; i++)
        status = add_block(adding, i, error);
    finalize_all(adding);
    return history_end(adding->history, status, error);
}

pl_status history_add(struct history *history, const char *file, const char *label, struct history_added *ret_added,
                      struct text *warnings, struct pl_error *error)
{
    struct adding adding = {.history = history, .label = label};
    clock_stamp(adding.now);
    pl_status status = blockfile_open(file, &adding.file, error);
    if (status != PL_OK)
        return status;
    for (size_t i = 0; i < adding.file.warning_count; i++)
        text_format(warnings, "%s\n", adding.file.warnings[i]);
    status = look_at_blocks(&adding, error);
    if (status == PL_OK)
        status = add_blocks(&adding, error);
    if (status == PL_OK)
        *ret_added = adding.added;
    for (size_t i = 0; adding.quantities && i < adding.file.block_count; i++)
        history_quantities_clear(&adding.quantities[i]);
    free(adding.quantities);
    history_pieces_clear(&adding.pieces);
    blockfile_close(&adding.file);
    return status;
}
