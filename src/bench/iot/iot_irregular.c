/* irregular: nodes and elements of an unstructured mesh, written and read in global order through indexed filetypes
 * (IOT-27).
 *
 * The file has four sections: the nodes' coordinates (3 doubles each), the elements' nodes (4 int64 each), and the
 * fields of nodes and of elements (doubles, field after field). Each is in the order of global numbers, byte for byte
 * as one process would write it, whoever owns what. One call moves a rank's share of a section; its view lists the
 * pieces.
 *
 * write_… and read_… are the times of these calls, write and read their sums; view_time is that of building filetypes
 * and setting views. At the end every rank reads all nodes of its elements, also those that others own: ghost. */
#include "base/rng.h"
#include "base/units.h"
#include "bench/iot/iot_course.h"
#include "bench/iot/iot_data.h"
#include "bench/iot/iot_file.h"
#include "bench/iot/iot_mesh.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 4, RECORD_MAX = 4, NUMBER_BYTES = 8, STRETCH = 4096 };

/* All that is in the file. */
union number {
    double real;
    int64_t whole;
};

struct irregular;

/* What a node or an element has in a section; `field` is 0 but for fields. */
typedef void record_of(const struct irregular *k, struct iot_mesh_item item, int64_t field, union number *ret_numbers);

struct section {
    const char *what, *write_key, *read_key;
    record_of *record;
    MPI_Datatype etype;
    int numbers;                      /* of a record */
    int fields;                       /* so often the section repeats its list of records */
    int64_t records;                  /* in that list, all ranks' */
    int64_t offset_bytes;             /* in the file */
    const struct iot_mesh_list *mine; /* the records that this rank moves */
    bool collective;                  /* by collective calls */
};

struct irregular {
    struct iot_run *run;
    struct iot_mesh mesh;
    struct iot_mesh_part part;
    struct section sections[SECTIONS];
    union number *buffer; /* one section at a time: records in the order of their numbers, field after field */
    enum iot_check check;
    MPI_File file;
    double view_s; /* so far */
};

/* ---- contents ---- */

static void coordinates_of(const struct irregular *k, struct iot_mesh_item node, int64_t field,
                           union number *ret_numbers)
{
    double xyz[3];
    (void)field;
    iot_mesh_coordinates(&k->mesh, node.natural, xyz);
    for (int d = 0; d < 3; d++)
        ret_numbers[d].real = xyz[d];
}

static void nodes_of(const struct irregular *k, struct iot_mesh_item element, int64_t field, union number *ret_numbers)
{
    int64_t nodes[4];
    (void)field;
    iot_mesh_element_nodes(&k->mesh, element.natural, nodes);
    for (int i = 0; i < 4; i++)
        ret_numbers[i].whole = iot_mesh_node_number(&k->mesh, nodes[i]);
}

static double field_value(uint64_t seed, int64_t number, int64_t field)
{
    return rng_unit(rng_at(rng_at(seed, (uint64_t)number), (uint64_t)field));
}

static void node_field_of(const struct irregular *k, struct iot_mesh_item node, int64_t field,
                          union number *ret_numbers)
{
    ret_numbers->real = field_value(rng_at(k->run->seed, 'n'), node.number, field);
}

static void element_field_of(const struct irregular *k, struct iot_mesh_item element, int64_t field,
                             union number *ret_numbers)
{
    ret_numbers->real = field_value(rng_at(k->run->seed, 'e'), element.number, field);
}

static void lay_out(struct irregular *k)
{
    const struct spec_block *block = k->run->block;
    k->sections[0] = (struct section){.what = "node coordinates",
                                      .write_key = "write_nodes",
                                      .read_key = "read_nodes",
                                      .record = coordinates_of,
                                      .etype = MPI_DOUBLE,
                                      .numbers = 3,
                                      .fields = 1};
    k->sections[1] = (struct section){.what = "element nodes",
                                      .write_key = "write_elems",
                                      .read_key = "read_elems",
                                      .record = nodes_of,
                                      .etype = MPI_INT64_T,
                                      .numbers = 4,
                                      .fields = 1};
    k->sections[2] = (struct section){.what = "node fields",
                                      .write_key = "write_nfield",
                                      .read_key = "read_nfield",
                                      .record = node_field_of,
                                      .etype = MPI_DOUBLE,
                                      .numbers = 1,
                                      .fields = (int)spec_number(block, "nodefields")};
    k->sections[3] = (struct section){.what = "element fields",
                                      .write_key = "write_efield",
                                      .read_key = "read_efield",
                                      .record = element_field_of,
                                      .etype = MPI_DOUBLE,
                                      .numbers = 1,
                                      .fields = (int)spec_number(block, "elemfields")};
    int64_t offset = 0;
    for (int i = 0; i < SECTIONS; i++) {
        struct section *s = &k->sections[i];
        const bool of_nodes = i % 2 == 0;
        s->records = of_nodes ? k->mesh.nodes : k->mesh.elements;
        s->mine = of_nodes ? &k->part.nodes : &k->part.elements;
        s->collective = spec_is_true(block, "collective");
        s->offset_bytes = offset;
        offset += s->records * s->fields * s->numbers * NUMBER_BYTES;
    }
}

/* Open MPI 4.1.0 to 4.1.4 return rubbish where collective reads of several ranks overlap (its issue 10546, mended in
 * 4.1.5). */
static bool may_overlap(void)
{
    static const char broken[] = "Open MPI v4.1.";
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    const char *patch = version + strlen(broken);
    return strncmp(version, broken, strlen(broken)) != 0 || patch[0] > '4' || (patch[1] >= '0' && patch[1] <= '9');
}

/* The same section with all nodes that the rank touches, in the place of those that it owns. */
static struct section ghost_of(const struct irregular *k, int which)
{
    struct section ghost = k->sections[which];
    ghost.mine = &k->part.touched;
    ghost.collective = ghost.collective && may_overlap();
    return ghost;
}

/* ---- the buffer ---- */

static void fill(const struct irregular *k, const struct section *s)
{
    union number *next = k->buffer;
    for (int field = 0; field < s->fields; field++)
        for (int64_t i = 0; i < s->mine->count; i++, next += s->numbers)
            s->record(k, s->mine->items[i], field, next);
}

static void print_number(const struct section *s, union number number, char text[32])
{
    if (s->etype == MPI_DOUBLE)
        snprintf(text, 32, "%.17g", number.real);
    else
        snprintf(text, 32, "%lld", (long long)number.whole);
}

/* Record `index` of the buffer. */
static pl_status verify_record(const struct irregular *k, const struct section *s, int64_t index,
                               struct pl_error *error)
{
    union number wanted[RECORD_MAX];
    const union number *got = k->buffer + index * s->numbers;
    const struct iot_mesh_item item = s->mine->items[index % s->mine->count];
    const int64_t field = index / s->mine->count;
    s->record(k, item, field, wanted);
    int i = 0;
    while (i < s->numbers && got[i].whole == wanted[i].whole)
        i++;
    if (i == s->numbers)
        return PL_OK;
    char got_text[32], wanted_text[32];
    print_number(s, got[i], got_text);
    print_number(s, wanted[i], wanted_text);
    const int64_t place = (field * s->records + item.number) * s->numbers + i;
    return pl_fail(error, PL_E_DATA,
                   "checking %s%s: number %d of record %lld, byte %lld of '%s', is %s, but %s was written",
                   s->mine == &k->part.touched ? "ghost " : "", s->what, i, (long long)item.number,
                   (long long)(s->offset_bytes + place * NUMBER_BYTES), k->run->filename, got_text, wanted_text);
}

/* All records, or one anywhere in each stretch of the buffer, besides the first and the last. */
static pl_status verify(const struct irregular *k, const struct section *s, struct pl_error *error)
{
    const int64_t count = s->mine->count * s->fields;
    const int64_t step = k->check == IOT_CHECK_FULL ? 1 : STRETCH / NUMBER_BYTES / s->numbers;
    if (k->check == IOT_CHECK_NONE || count == 0)
        return PL_OK;
    pl_status status = verify_record(k, s, 0, error);
    for (int64_t begin = 0; begin < count && status == PL_OK; begin += step) {
        const int64_t length = count - begin < step ? count - begin : step;
        const uint64_t random = rng_at(k->run->seed, (uint64_t)begin);
        status = verify_record(k, s, begin + (int64_t)(random % (uint64_t)length), error);
    }
    return status == PL_OK ? verify_record(k, s, count - 1, error) : status;
}

/* ---- filetypes ---- */

/* Neighbours in the file become one piece. Only counts where `lengths` is NULL. */
static int find_runs(const struct section *s, int *lengths, MPI_Aint *places)
{
    const struct iot_mesh_item *items = s->mine->items;
    int runs = 0;
    for (int64_t i = 0, begin = 0; i < s->mine->count; i++) {
        if (i + 1 < s->mine->count && items[i + 1].number == items[i].number + 1)
            continue;
        if (lengths) {
            lengths[runs] = (int)(i + 1 - begin);
            places[runs] = items[begin].number * s->numbers * NUMBER_BYTES;
        }
        runs++;
        begin = i + 1;
    }
    return runs;
}

struct view {
    MPI_Datatype filetype, memtype;
};

static void free_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        MPI_Type_free(type);
}

/* The filetype spans one list of records, so that the view, which repeats it, goes on with the next field. */
static int make_types(const struct section *s, int runs, const int *lengths, const MPI_Aint *places, struct view *view)
{
    MPI_Datatype record = MPI_DATATYPE_NULL, indexed = MPI_DATATYPE_NULL;
    int code = MPI_Type_contiguous(s->numbers, s->etype, &record);
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_hindexed(runs, lengths, places, record, &indexed);
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_resized(indexed, 0, s->records * s->numbers * NUMBER_BYTES, &view->filetype);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&view->filetype);
    if (code == MPI_SUCCESS)
        code = MPI_Type_contiguous((int)s->mine->count, record, &view->memtype);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&view->memtype);
    free_type(&indexed);
    free_type(&record);
    return code;
}

static pl_status make_view(const struct section *s, struct view *view, struct pl_error *error)
{
    const int runs = find_runs(s, NULL, NULL);
    int *lengths = malloc((size_t)(runs + 1) * sizeof *lengths);
    MPI_Aint *places = malloc((size_t)(runs + 1) * sizeof *places);
    pl_status status = PL_OK;
    if (!lengths || !places) {
        status = pl_fail_errno(error, ENOMEM, "taking memory for %d pieces of %s", runs, s->what);
    } else if (runs > 0) {
        find_runs(s, lengths, places);
        const int code = make_types(s, runs, lengths, places, view);
        if (code != MPI_SUCCESS)
            status = coll_fail_mpi(error, code, "making the filetype of %s, %d pieces", s->what, runs);
    }
    free(lengths);
    free(places);
    return status;
}

/* A rank that has nothing, or failed, sets the plain view: a filetype without a byte is more than some MPIs bear. */
static pl_status set_view_coll(struct irregular *k, const struct section *s, struct view *view, struct pl_error *error)
{
    const double begin = MPI_Wtime();
    pl_status status = make_view(s, view, error);
    const bool has = status == PL_OK && s->mine->count > 0;
    const int code = MPI_File_set_view(k->file, s->offset_bytes, s->etype, has ? view->filetype : s->etype, "native",
                                       k->run->info);
    if (status == PL_OK && code != MPI_SUCCESS)
        status = coll_fail_mpi(error, code, "setting the view of %s in '%s'", s->what, k->run->filename);
    k->view_s += MPI_Wtime() - begin;
    samples_time(&k->run->samples, "view_time", k->view_s);
    return status;
}

/* ---- the calls that are measured ---- */

enum pass { WRITE, READ, GHOST };

static int transfer_coll(const struct irregular *k, bool collective, enum pass pass, int count, MPI_Datatype type,
                         MPI_Status *ret_moved)
{
    if (pass == WRITE)
        return collective ? MPI_File_write_at_all(k->file, 0, k->buffer, count, type, ret_moved)
                          : MPI_File_write_at(k->file, 0, k->buffer, count, type, ret_moved);
    return collective ? MPI_File_read_at_all(k->file, 0, k->buffer, count, type, ret_moved)
                      : MPI_File_read_at(k->file, 0, k->buffer, count, type, ret_moved);
}

static pl_status judge(const struct irregular *k, const struct section *s, const char *doing, int code,
                       const MPI_Status *moved, struct pl_error *error)
{
    const int64_t wanted = s->mine->count * s->fields * s->numbers;
    MPI_Count count = 0;
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %s, %lld numbers of '%s'", doing, s->what, (long long)wanted,
                             k->run->filename);
    if (wanted > 0)
        MPI_Get_elements_x(moved, s->etype, &count);
    if (count == wanted)
        return PL_OK;
    return pl_fail(error, PL_E_SYSTEM, "%s %s of '%s': only %lld of %lld numbers moved", doing, s->what,
                   k->run->filename, count == MPI_UNDEFINED ? 0 : (long long)count, (long long)wanted);
}

/* Moves the buffer. Whatever fails on the way, every rank comes to every meeting: with nothing, if need be. */
static pl_status move_coll(struct irregular *k, const struct section *s, enum pass pass, double *ret_seconds,
                           struct pl_error *error)
{
    struct view view = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    pl_status status = set_view_coll(k, s, &view, error);
    const bool has = status == PL_OK && s->mine->count > 0;
    MPI_Status moved;
    MPI_Barrier(k->run->comm); /* no section pays for the one before */
    const double begin = MPI_Wtime();
    const int code = transfer_coll(k, s->collective, pass, has ? s->fields : 0, has ? view.memtype : s->etype, &moved);
    *ret_seconds = MPI_Wtime() - begin;
    if (status == PL_OK)
        status = judge(k, s, pass == WRITE ? "writing" : "reading", code, &moved, error);
    free_type(&view.filetype);
    free_type(&view.memtype);
    return status;
}

static pl_status write_section_coll(struct irregular *k, const struct section *s, double *ret_seconds,
                                    struct pl_error *error)
{
    fill(k, s);
    return move_coll(k, s, WRITE, ret_seconds, error);
}

static pl_status read_section_coll(struct irregular *k, const struct section *s, double *ret_seconds,
                                   struct pl_error *error)
{
    const int64_t bytes = s->mine->count * s->fields * s->numbers * NUMBER_BYTES;
    memset(k->buffer, 0xff, (size_t)bytes); /* no number of ours */
    const pl_status status = move_coll(k, s, READ, ret_seconds, error);
    return status == PL_OK ? verify(k, s, error) : status;
}

/* Through the file, section by section; the first failure is the one to report. GHOST reads the sections of nodes. */
static pl_status pass_coll(struct irregular *k, enum pass pass, const char *key, struct pl_error *error)
{
    pl_status status = PL_OK;
    double total_s = 0, seconds = 0;
    for (int i = 0; i < SECTIONS; i += pass == GHOST ? 2 : 1) {
        const struct section s = pass == GHOST ? ghost_of(k, i) : k->sections[i];
        struct pl_error section_error;
        if (s.fields == 0)
            continue;
        const pl_status done = pass == WRITE ? write_section_coll(k, &s, &seconds, &section_error)
                                             : read_section_coll(k, &s, &seconds, &section_error);
        if (pass != GHOST)
            samples_time(&k->run->samples, pass == WRITE ? s.write_key : s.read_key, seconds);
        total_s += seconds;
        if (status == PL_OK && done != PL_OK) {
            status = done;
            *error = section_error;
        }
    }
    samples_time(&k->run->samples, key, total_s);
    return status;
}

/* ---- the course ---- */

static pl_status irregular_prepare(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    pl_status status = iot_check_memory(k->run, error);
    if (status == PL_OK)
        status = iot_mesh_part_init(&k->mesh, k->run->rank, &k->part, error);
    if (status != PL_OK)
        return status;
    int64_t longest = 1;
    for (int i = 0; i < SECTIONS; i++) {
        const struct section *s = &k->sections[i];
        const int64_t most = s->mine == &k->part.nodes ? k->part.touched.count : s->mine->count;
        if (most * s->fields * s->numbers > longest)
            longest = most * s->fields * s->numbers;
    }
    k->buffer = malloc((size_t)longest * sizeof *k->buffer);
    if (!k->buffer)
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld numbers", (long long)longest);
    return PL_OK;
}

static void note_spread_coll(struct iot_run *run, const char *key, int64_t value)
{
    int64_t low = 0, high = 0, sum = 0;
    char name[64];
    MPI_Reduce(&value, &low, 1, MPI_INT64_T, MPI_MIN, 0, run->comm);
    MPI_Reduce(&value, &high, 1, MPI_INT64_T, MPI_MAX, 0, run->comm);
    MPI_Reduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, 0, run->comm);
    snprintf(name, sizeof name, "%s_min", key);
    iot_param(run, name, "%lld", (long long)low);
    snprintf(name, sizeof name, "%s_mean", key);
    iot_param(run, name, "%.1f", (double)sum / run->nprocs);
    snprintf(name, sizeof name, "%s_max", key);
    iot_param(run, name, "%lld", (long long)high);
}

/* How evenly the mesh is dealt out, and into how many pieces the filetypes fall. */
static pl_status irregular_note_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    (void)error;
    const struct section ghost = ghost_of(k, 0);
    note_spread_coll(k->run, "owned_nodes", k->part.nodes.count);
    note_spread_coll(k->run, "owned_elements", k->part.elements.count);
    note_spread_coll(k->run, "ghost_nodes", k->part.touched.count - k->part.nodes.count);
    note_spread_coll(k->run, "node_runs", find_runs(&k->sections[0], NULL, NULL));
    note_spread_coll(k->run, "element_runs", find_runs(&k->sections[1], NULL, NULL));
    note_spread_coll(k->run, "ghost_runs", find_runs(&ghost, NULL, NULL));
    const int64_t mine = k->part.touched.count * (3 + k->sections[2].fields) * NUMBER_BYTES;
    int64_t all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, k->run->comm);
    iot_param(k->run, "ghost_bytes", "%lld", (long long)all);
    iot_param(k->run, "ghost_collective", "%s", ghost.collective ? "true" : "false");
    if (ghost.collective != k->sections[0].collective)
        iot_warn(k->run, "ghost nodes are read by independent calls: this Open MPI returns wrong data where collective "
                         "reads overlap (fixed in 4.1.5)");
    return PL_OK;
}

static pl_status irregular_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct irregular *)test)->run, error);
}

static pl_status irregular_open_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_open_coll(k->run, k->run->comm, &k->file, error);
}

static pl_status irregular_preallocate_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_preallocate_coll(k->run, k->file, error);
}

static pl_status irregular_write_coll(void *test, struct pl_error *error)
{
    return pass_coll(test, WRITE, "write", error);
}

static pl_status irregular_sync_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_sync_coll(k->run, k->file, error);
}

static pl_status irregular_read_coll(void *test, struct pl_error *error)
{
    return pass_coll(test, READ, "read", error);
}

static pl_status irregular_ghost_coll(void *test, struct pl_error *error)
{
    return pass_coll(test, GHOST, "ghost", error);
}

static pl_status irregular_close_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_close_coll(k->run, &k->file, error);
}

static const struct iot_course IRREGULAR_COURSE[] = {
    {irregular_prepare, NULL, 0},
    {irregular_note_coll, NULL, 0},
    {irregular_clear, NULL, IOT_ALONE},
    {irregular_open_coll, "pre_time", IOT_OPENS},
    {irregular_preallocate_coll, "palloc_time", IOT_WRITES},
    {irregular_write_coll, NULL, IOT_WRITES},
    {irregular_sync_coll, "sync_time", IOT_WRITES},
    {irregular_sync_coll, NULL, IOT_WRITES}, /* sync, meet, sync: only then others' nodes are sure to be seen */
    {irregular_read_coll, NULL, IOT_READS},
    {irregular_ghost_coll, NULL, IOT_READS},
    {irregular_close_coll, "post_time", IOT_CLOSES},
};

/* ---- plan ---- */

#define CELLS(axis_name)                                                                                               \
    {                                                                                                                  \
        .name = axis_name, .type = SPEC_INT, .list = true, .required = true, .min = 1, .max = 1e9,                     \
        .help = "cells of the mesh along this axis, each cut into 6 tetrahedra"                                        \
    }

static const struct spec_keyword IRREGULAR_KEYWORDS[] = {
    {.name = "numsizes",
     .alias = "numproblemsizes",
     .type = SPEC_INT,
     .required = true,
     .min = 1,
     .max = 1e6,
     .help = "meshes to run, from the start of the lists"},
    CELLS("xsize"),
    CELLS("ysize"),
    CELLS("zsize"),
    {.name = "collective", .type = SPEC_BOOL, .required = true, .help = "collective calls, or independent ones"},
    {.name = "nodefields",
     .type = SPEC_INT,
     .default_text = "1",
     .min = 0,
     .max = 1000,
     .help = "fields of one double for each node"},
    {.name = "elemfields",
     .type = SPEC_INT,
     .default_text = "1",
     .min = 0,
     .max = 1000,
     .help = "fields of one double for each element"},
    {.name = "window",
     .type = SPEC_INT,
     .default_text = "4096",
     .min = 1,
     .max = 1e15,
     .help = "nodes and elements are numbered at random within windows of so many; 1 leaves them in order"},
    {0},
};

static const char *const SIZE_NAMES[3] = {"xsize", "ysize", "zsize"};

static void cells_of(const struct spec_block *block, int64_t index, int64_t ret_cells[3])
{
    const int64_t sizes = (int64_t)spec_number(block, "numsizes");
    for (int d = 0; d < 3; d++)
        ret_cells[d] = (int64_t)spec_find(block, SIZE_NAMES[d])->numbers[index % sizes];
}

static struct iot_mesh mesh_of(const struct spec_block *block, uint64_t seed, int nprocs, int64_t index)
{
    int64_t cells[3];
    cells_of(block, index, cells);
    return iot_mesh_make(cells, (int64_t)spec_number(block, "window"), seed, nprocs);
}

static double node_bytes(const struct spec_block *block)
{
    return NUMBER_BYTES * (3 + spec_number(block, "nodefields"));
}

static double element_bytes(const struct spec_block *block)
{
    return NUMBER_BYTES * (4 + spec_number(block, "elemfields"));
}

static pl_status check_size(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                            struct pl_error *error)
{
    int64_t cells[3];
    cells_of(block, index, cells);
    double count = 1, nodes = 1;
    for (int d = 0; d < 3; d++) {
        count *= (double)cells[d];
        nodes *= (double)cells[d] + 1;
    }
    const double bytes = nodes * node_bytes(block) + IOT_MESH_TETRAHEDRA * count * element_bytes(block);
    if (bytes >= 0x1p62)
        return spec_fail(spec, block, "xsize", error,
                         "a mesh of %lld x %lld x %lld cells makes a file of %.3g bytes; allowed: less than %.3g",
                         (long long)cells[0], (long long)cells[1], (long long)cells[2], bytes, 0x1p62);
    int64_t most_elements, most_nodes;
    const struct iot_mesh mesh = mesh_of(block, 0, nprocs, index);
    iot_mesh_most(&mesh, &most_elements, &most_nodes);
    if (most_elements > INT_MAX || most_nodes > INT_MAX)
        return spec_fail(
            spec, block, "xsize", error,
            "a mesh of %lld x %lld x %lld cells gives one of %d processes up to %lld elements; allowed: up "
            "to %d, as far as MPI counts, so fewer cells or more processes",
            (long long)cells[0], (long long)cells[1], (long long)cells[2], nprocs, (long long)most_elements, INT_MAX);
    return PL_OK;
}

static pl_status irregular_check(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                                 struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int d = 0; d < 3 && status == PL_OK; d++)
        status = iot_check_list(spec, block, "numsizes", SIZE_NAMES[d], error);
    const int64_t sizes = (int64_t)spec_number(block, "numsizes");
    for (int64_t i = 0; i < sizes && status == PL_OK; i++)
        status = check_size(spec, block, nprocs, i, error);
    if (status == PL_OK)
        status = iot_check_phases(spec, block, error);
    *ret_sets = sizes * (int64_t)spec_number(block, "repeat");
    return status;
}

/* Of the rank that has most: owners of cells, lists and what sorting them takes, the largest section, and the pieces of
 * a filetype, which MPI keeps in about two forms besides ours. */
static int64_t memory_of(const struct spec_block *block, const struct iot_mesh *mesh)
{
    enum { ITEM = sizeof(struct iot_mesh_item), PIECE = 12 + 2 * 16 };
    int64_t elements, nodes;
    iot_mesh_most(mesh, &elements, &nodes);
    const int64_t node_fields = (int64_t)spec_number(block, "nodefields");
    const int64_t element_fields = (int64_t)spec_number(block, "elemfields");
    const int64_t of_nodes = nodes * (node_fields > 3 ? node_fields : 3);
    const int64_t of_elements = elements * (element_fields > 4 ? element_fields : 4);
    return elements * (2 * ITEM + PIECE + 1) + nodes * 2 * ITEM +
           NUMBER_BYTES * (of_nodes > of_elements ? of_nodes : of_elements);
}

static void irregular_describe(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct iot_mesh mesh = mesh_of(block, 0, nprocs, index);
    const int64_t bytes = mesh.nodes * (int64_t)node_bytes(block) + mesh.elements * (int64_t)element_bytes(block);
    char text[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = bytes, .mean_bytes = (double)bytes, .memory_bytes = memory_of(block, &mesh)};
    iot_set_phases(block, ret_set);
    snprintf(ret_set->label, sizeof ret_set->label, "%lld x %lld x %lld cells, file %s", (long long)mesh.cells[0],
             (long long)mesh.cells[1], (long long)mesh.cells[2], units_bytes(bytes, text));
}

static void note_params(struct iot_run *run, const struct iot_mesh *mesh)
{
    static const char *const proc_names[3] = {"xproc", "yproc", "zproc"};
    for (int d = 0; d < 3; d++)
        iot_param(run, SIZE_NAMES[d], "%lld", (long long)mesh->cells[d]);
    for (int d = 0; d < 3; d++)
        iot_param(run, proc_names[d], "%d", mesh->grid[d]);
    iot_param(run, "nodes", "%lld", (long long)mesh->nodes);
    iot_param(run, "elements", "%lld", (long long)mesh->elements);
    iot_param(run, "nodefields", "%g", spec_number(run->block, "nodefields"));
    iot_param(run, "elemfields", "%g", spec_number(run->block, "elemfields"));
    iot_param(run, "window", "%lld", (long long)mesh->window);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "collective", "%s", spec_text(run->block, "collective"));
}

static pl_status irregular_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct irregular k = {.run = run,
                          .mesh = mesh_of(run->block, run->seed, run->nprocs, run->index),
                          .check = iot_check_named(spec_text(run->block, "check")),
                          .file = MPI_FILE_NULL};
    lay_out(&k);
    note_params(run, &k.mesh);
    const pl_status status = iot_course_coll(
        run, IRREGULAR_COURSE, sizeof IRREGULAR_COURSE / sizeof IRREGULAR_COURSE[0], &k, error, ret_verdict);
    iot_remove_file(run);
    iot_mesh_part_clear(&k.part);
    free(k.buffer);
    return status;
}

extern const struct iot_test iot_test_irregular;
const struct iot_test iot_test_irregular = {
    .spec = {.class_name = "Kernel",
             .name = "irregular",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, IRREGULAR_KEYWORDS, NULL}},
    .summary = "nodes and elements of an unstructured mesh, through indexed filetypes",
    .check = irregular_check,
    .describe = irregular_describe,
    .run_coll = irregular_run_coll,
};
