/* The kernel irregular: what its plan, the sections of its file and its run share. */
#ifndef PIOLET_BENCH_IOT_IRREGULAR_H
#define PIOLET_BENCH_IOT_IRREGULAR_H

#include "bench/iot/iot.h"
#include "bench/iot/iot_data.h"
#include "bench/iot/iot_mesh.h"

enum { IRREGULAR_SECTIONS = 4, IRREGULAR_NUMBER_BYTES = 8 };

/* All that is in the file. */
union irregular_number {
    double real;
    int64_t whole;
};

struct irregular;

/* What a node or an element has in a section; `field` is 0 but for fields. */
typedef void irregular_record(const struct irregular *k, struct iot_mesh_item item, int64_t field,
                              union irregular_number *ret_numbers);

struct irregular_section {
    const char *what, *write_key, *read_key;
    irregular_record *record;
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
    struct irregular_section sections[IRREGULAR_SECTIONS];
    union irregular_number
        *buffer; /* one section at a time: records in the order of their numbers, field after field */
    enum iot_check check;
    MPI_File file;
    double view_s; /* so far */
};

/* ---- plan; pure ---- */

extern const struct option_row IRREGULAR_KEYWORDS[];

/* For struct iot_test. */
pl_status irregular_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error);
void irregular_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set);

/* The mesh of set `index`. */
struct iot_mesh irregular_mesh(const struct iot_block *block, uint64_t seed, int nprocs, int64_t index);
void irregular_note_params(struct iot_run *run, const struct iot_mesh *mesh);

/* ---- sections ---- */

void irregular_lay_out(struct irregular *k);

/* The same section with all nodes that the rank touches, in the place of those that it owns. */
struct irregular_section irregular_ghost_of(const struct irregular *k, int which);

/* What this rank has of a section, in the buffer: made, and compared as far as k->check asks for. */
void irregular_fill(const struct irregular *k, const struct irregular_section *s);
pl_status irregular_verify(const struct irregular *k, const struct irregular_section *s, struct pl_error *error);

/* Neighbours in the file become one piece. Only counts where `lengths` is NULL. */
int irregular_runs(const struct irregular_section *s, int *lengths, MPI_Aint *places);

/* MPI_DATATYPE_NULL both: nothing to move. */
struct irregular_view {
    MPI_Datatype filetype, memtype;
};

/* A rank that has nothing, or failed, sets the plain view: a filetype without a byte is more than some MPIs bear. */
pl_status irregular_view_coll(struct irregular *k, const struct irregular_section *s, struct irregular_view *view,
                              struct pl_error *error);
void irregular_view_clear(struct irregular_view *view);

#endif
