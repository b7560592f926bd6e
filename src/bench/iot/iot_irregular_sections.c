/* What stands in the sections of the kernel irregular's file, and the filetypes that show a rank its share of one. */
#include "bench/iot/iot_irregular.h"

#include "base/rng.h"
#include "lab/facts/environment.h"
#include "mpi/coll.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_MAX = 4, STRETCH = 4096 };

/* ---- contents ---- */

static void sections_coordinates_of(const struct irregular *k, struct iot_mesh_item node, int64_t field,
                                    union irregular_number *ret_numbers)
{
    double xyz[3];
    (void)field;
    iot_mesh_coordinates(&k->mesh, node.natural, xyz);
    for (int d = 0; d < 3; d++)
        ret_numbers[d].real = xyz[d];
}

static void sections_nodes_of(const struct irregular *k, struct iot_mesh_item element, int64_t field,
                              union irregular_number *ret_numbers)
{
    int64_t nodes[4];
    (void)field;
    iot_mesh_element_nodes(&k->mesh, element.natural, nodes);
    for (int i = 0; i < 4; i++)
        ret_numbers[i].whole = iot_mesh_node_number(&k->mesh, nodes[i]);
}

static double sections_field_value(uint64_t seed, int64_t number, int64_t field)
{
    return rng_unit(rng_at(rng_at(seed, (uint64_t)number), (uint64_t)field));
}

static void sections_node_field_of(const struct irregular *k, struct iot_mesh_item node, int64_t field,
                                   union irregular_number *ret_numbers)
{
    ret_numbers->real = sections_field_value(rng_at(k->run->seed, 'n'), node.number, field);
}

static void sections_element_field_of(const struct irregular *k, struct iot_mesh_item element, int64_t field,
                                      union irregular_number *ret_numbers)
{
    ret_numbers->real = sections_field_value(rng_at(k->run->seed, 'e'), element.number, field);
}

void irregular_lay_out(struct irregular *k)
{
    const struct iot_block *block = k->run->block;
    k->sections[0] = (struct irregular_section){.what = "node coordinates",
                                                .write_key = "write_nodes",
                                                .read_key = "read_nodes",
                                                .record = sections_coordinates_of,
                                                .etype = MPI_DOUBLE,
                                                .numbers = 3,
                                                .fields = 1};
    k->sections[1] = (struct irregular_section){.what = "element nodes",
                                                .write_key = "write_elems",
                                                .read_key = "read_elems",
                                                .record = sections_nodes_of,
                                                .etype = MPI_INT64_T,
                                                .numbers = 4,
                                                .fields = 1};
    k->sections[2] = (struct irregular_section){.what = "node fields",
                                                .write_key = "write_nfield",
                                                .read_key = "read_nfield",
                                                .record = sections_node_field_of,
                                                .etype = MPI_DOUBLE,
                                                .numbers = 1,
                                                .fields = (int)iot_spec_number(block, "nodefields")};
    k->sections[3] = (struct irregular_section){.what = "element fields",
                                                .write_key = "write_efield",
                                                .read_key = "read_efield",
                                                .record = sections_element_field_of,
                                                .etype = MPI_DOUBLE,
                                                .numbers = 1,
                                                .fields = (int)iot_spec_number(block, "elemfields")};
    int64_t offset = 0;
    for (int i = 0; i < IRREGULAR_SECTIONS; i++) {
        struct irregular_section *s = &k->sections[i];
        const bool of_nodes = i % 2 == 0;
        s->records = of_nodes ? k->mesh.nodes : k->mesh.elements;
        s->mine = of_nodes ? &k->part.nodes : &k->part.elements;
        s->collective = iot_spec_is_true(block, "collective");
        s->offset_bytes = offset;
        offset += s->records * s->fields * s->numbers * IRREGULAR_NUMBER_BYTES;
    }
}

/* OMPIO of Open MPI 4.1.0 to 4.1.4 returns rubbish where collective reads of several ranks overlap (its issue 10546,
 * mended in 4.1.5). Other MPI-IOs on that MPI, ROMIO or ours, are measured as they are. */
static bool sections_may_overlap(void)
{
    if (!environment_is_ompio())
        return true;
    static const char broken[] = "Open MPI v4.1.";
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    const char *patch = version + strlen(broken);
    return strncmp(version, broken, strlen(broken)) != 0 || patch[0] > '4' || (patch[1] >= '0' && patch[1] <= '9');
}

struct irregular_section irregular_ghost_of(const struct irregular *k, int which)
{
    struct irregular_section ghost = k->sections[which];
    ghost.mine = &k->part.touched;
    ghost.collective = ghost.collective && sections_may_overlap();
    return ghost;
}

/* ---- the buffer ---- */

void irregular_fill(const struct irregular *k, const struct irregular_section *s)
{
    union irregular_number *next = k->buffer;
    for (int field = 0; field < s->fields; field++)
        for (int64_t i = 0; i < s->mine->count; i++, next += s->numbers)
            s->record(k, s->mine->items[i], field, next);
}

static void sections_print_number(const struct irregular_section *s, union irregular_number number, char text[32])
{
    if (s->etype == MPI_DOUBLE)
        snprintf(text, 32, "%.17g", number.real);
    else
        snprintf(text, 32, "%lld", (long long)number.whole);
}

/* Record `index` of the buffer. */
static pl_status sections_verify_record(const struct irregular *k, const struct irregular_section *s, int64_t index,
                                        struct pl_error *error)
{
    union irregular_number wanted[RECORD_MAX];
    const union irregular_number *got = k->buffer + index * s->numbers;
    const struct iot_mesh_item item = s->mine->items[index % s->mine->count];
    const int64_t field = index / s->mine->count;
    s->record(k, item, field, wanted);
    int i = 0;
    while (i < s->numbers && got[i].whole == wanted[i].whole)
        i++;
    if (i == s->numbers)
        return PL_OK;
    char got_text[32], wanted_text[32];
    sections_print_number(s, got[i], got_text);
    sections_print_number(s, wanted[i], wanted_text);
    const int64_t place = (field * s->records + item.number) * s->numbers + i;
    return pl_fail(
        error, PL_E_DATA, "checking %s%s: number %d of record %lld, byte %lld of '%s', is %s, but %s was written",
        s->mine == &k->part.touched ? "ghost " : "", s->what, i, (long long)item.number,
        (long long)(s->offset_bytes + place * IRREGULAR_NUMBER_BYTES), k->run->filename, got_text, wanted_text);
}

/* All records, or one anywhere in each stretch of the buffer, besides the first and the last. */
pl_status irregular_verify(const struct irregular *k, const struct irregular_section *s, struct pl_error *error)
{
    const int64_t count = s->mine->count * s->fields;
    const int64_t step = k->check == IOT_CHECK_FULL ? 1 : STRETCH / IRREGULAR_NUMBER_BYTES / s->numbers;
    if (k->check == IOT_CHECK_NONE || count == 0)
        return PL_OK;
    pl_status status = sections_verify_record(k, s, 0, error);
    for (int64_t begin = 0; begin < count && status == PL_OK; begin += step) {
        const int64_t length = count - begin < step ? count - begin : step;
        const uint64_t random = rng_at(k->run->seed, (uint64_t)begin);
        status = sections_verify_record(k, s, begin + (int64_t)(random % (uint64_t)length), error);
    }
    return status == PL_OK ? sections_verify_record(k, s, count - 1, error) : status;
}

/* ---- filetypes ---- */

int irregular_runs(const struct irregular_section *s, int *lengths, MPI_Aint *places)
{
    const struct iot_mesh_item *items = s->mine->items;
    int runs = 0;
    for (int64_t i = 0, begin = 0; i < s->mine->count; i++) {
        if (i + 1 < s->mine->count && items[i + 1].number == items[i].number + 1)
            continue;
        if (lengths) {
            lengths[runs] = (int)(i + 1 - begin);
            places[runs] = items[begin].number * s->numbers * IRREGULAR_NUMBER_BYTES;
        }
        runs++;
        begin = i + 1;
    }
    return runs;
}

static void sections_free_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        MPI_Type_free(type);
}

/* The filetype spans one list of records, so that the view, which repeats it, goes on with the next field. */
static int sections_make_types(const struct irregular_section *s, int runs, const int *lengths, const MPI_Aint *places,
                               struct irregular_view *view)
{
    MPI_Datatype record = MPI_DATATYPE_NULL, indexed = MPI_DATATYPE_NULL;
    int code = MPI_Type_contiguous(s->numbers, s->etype, &record);
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_hindexed(runs, lengths, places, record, &indexed);
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_resized(indexed, 0, s->records * s->numbers * IRREGULAR_NUMBER_BYTES, &view->filetype);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&view->filetype);
    if (code == MPI_SUCCESS)
        code = MPI_Type_contiguous((int)s->mine->count, record, &view->memtype);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&view->memtype);
    sections_free_type(&indexed);
    sections_free_type(&record);
    return code;
}

static pl_status sections_make_view(const struct irregular_section *s, struct irregular_view *view,
                                    struct pl_error *error)
{
    const int runs = irregular_runs(s, NULL, NULL);
    int *lengths = malloc((size_t)(runs + 1) * sizeof *lengths);
    MPI_Aint *places = malloc((size_t)(runs + 1) * sizeof *places);
    pl_status status = PL_OK;
    if (!lengths || !places) {
        status = pl_fail_errno(error, ENOMEM, "taking memory for %d pieces of %s", runs, s->what);
    } else if (runs > 0) {
        irregular_runs(s, lengths, places);
        const int code = sections_make_types(s, runs, lengths, places, view);
        if (code != MPI_SUCCESS)
            status = coll_fail_mpi(error, code, "making the filetype of %s, %d pieces", s->what, runs);
    }
    free(lengths);
    free(places);
    return status;
}

pl_status irregular_view_coll(struct irregular *k, const struct irregular_section *s, struct irregular_view *view,
                              struct pl_error *error)
{
    const double begin = MPI_Wtime();
    pl_status status = sections_make_view(s, view, error);
    const bool has = status == PL_OK && s->mine->count > 0;
    const int code = MPI_File_set_view(k->file, s->offset_bytes, s->etype, has ? view->filetype : s->etype, "native",
                                       k->run->info);
    if (status == PL_OK && code != MPI_SUCCESS)
        status = coll_fail_mpi(error, code, "setting the view of %s in '%s'", s->what, k->run->filename);
    k->view_s += MPI_Wtime() - begin;
    samples_time(&k->run->samples, "view_time", k->view_s);
    return status;
}

void irregular_view_clear(struct irregular_view *view)
{
    sections_free_type(&view->filetype);
    sections_free_type(&view->memtype);
}
