/* Data accesses of engine_fuzz. */
#include "engine_fuzz_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 }; /* bytes before and behind a buffer that nobody may touch */

/* ---- drawing ---- */

static struct type *draw_memory(const struct group *group, int rank, struct random *random, int64_t most)
{
    const struct view *view = &group->views[rank];
    const bool is_mine = rank == group->rank;
    int which = view->which;
    if (type_is_bytes(which) && !view->is_external && random_chance(random, 40))
        which = type_draw_etype(random); /* an etype of bytes goes with everything */
    struct type *base = type_etype(which, is_mine);
    const struct type_style style = {.is_mine = is_mine, .unit = base->align, .most = most};
    struct type *memory = random_chance(random, 25) ? type_dup(base, is_mine) : type_draw(random, base, &style);
    type_free(base);
    return memory;
}

enum how op_draw_how(struct random *random, bool is_collective)
{
    if (has(FEATURE_nonblocking) && random_chance(random, 25))
        return NONBLOCKING;
    if (is_collective && has(FEATURE_splitcoll) && random_chance(random, 25))
        return SPLIT;
    return BLOCKING;
}

static int draw_seek(const struct group *group, int rank, struct random *random, int64_t position)
{
    const int seek_end_ok = has(FEATURE_seekend) && group->views[rank].file->size > 0;
    int seek = (int[]){MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END}[random_between(random, 0, 2)];
    if (!has(FEATURE_seek) || (seek == MPI_SEEK_END && !seek_end_ok))
        seek = MPI_SEEK_SET;
    if (position == group->own[rank] && !fuzz.faults) /* after a fault no pointer is where it should be */
        return -1;
    return fuzz.faults ? MPI_SEEK_SET : seek;
}

/* Etypes behind the view's base in which the access lies. */
struct range {
    int64_t begin, end;
};

static struct range draw_range(const struct group *group, int rank, struct random *random, const struct op *kind)
{
    const struct view *view = &group->views[rank];
    struct range range = {0, op_room(group, rank, kind->is_write)};
    const int64_t pointer = group->own[rank] - view->base;
    if (kind->where == OWN && pointer >= 0 && pointer < range.end && random_chance(random, 50)) {
        range.begin = pointer;
        return range;
    }
    if (kind->is_write && group->same_view && random_chance(random, 75)) { /* else most would meet and be left out */
        range.begin = range.end * rank / group->procs;
        range.end = range.end * (rank + 1) / group->procs;
    } else if (!kind->is_write && view->file->size && random_chance(random, 60)) { /* not beyond the end of the file */
        const int64_t end = view_end(view, group->model.size) - view->base;
        range.end = end > 0 && end < range.end ? end : range.end;
    }
    if (!random_chance(random, 30))
        range.begin += random_size(random, range.end - range.begin);
    return range;
}

struct op op_draw(struct group *group, int rank, struct random *random, const struct op *kind, int64_t most)
{
    const struct view *view = &group->views[rank];
    const struct range range = draw_range(group, rank, random, kind);
    struct op op = *kind;
    op.id = random_next(random);
    op.position = view->base + range.begin;
    op.memory = draw_memory(group, rank, random, most / 2);
    const int64_t room = (range.end - range.begin) * view->etype->size, bytes = room < most ? room : most;
    if (op.memory->size > bytes) { /* too large for what is left: then plain etypes */
        type_free(op.memory);
        op.memory = type_etype(view->which, rank == group->rank);
    }
    const int64_t counts = bytes / op.memory->size;
    op.count = random_chance(random, 20) ? counts : random_size(random, counts);
    op.count = op.count == 0 && counts > 0 ? 1 : op.count;
    op.count = random_chance(random, 10) ? 0 : op.count;
    op.is_bottom = has(FEATURE_bottom) && op.count > 0 && random_chance(random, 12);
    op.seek = op.where == OWN ? draw_seek(group, rank, random, op.position) : -1;
    return op;
}

int64_t op_room(const struct group *group, int rank, bool is_write)
{
    const struct view *view = &group->views[rank];
    int64_t limit = is_write ? view->limit : group->model.limit;
    /* a part of an element cannot be turned round: external32 stays within the file */
    if (!is_write && (!has(FEATURE_eof) || view->is_external))
        limit = group->model.size < limit ? group->model.size : limit;
    return limit > group->model.origin ? view_room(view, limit) : 0;
}

void op_clear(struct op *op)
{
    type_free(op->memory);
    op->memory = NULL;
}

int64_t op_bytes(const struct op *op)
{
    return op->count * op->memory->size;
}

int64_t op_behind(const struct group *group, int rank, const struct op *op)
{
    return op->position + op_bytes(op) / group->views[rank].etype->size;
}

void op_describe(const struct group *group, const struct op *op)
{
    static const char *const WHERE[] = {"_at", "", "_shared", "_ordered"},
                             *const HOW[] = {"", "nonblocking ", "split "},
                             *const SEEK[] = {"", ", seek set", ", seek cur", ", seek end"};
    const struct view *view = &group->views[group->rank];
    const int seek = op->seek == MPI_SEEK_SET ? 1 : op->seek == MPI_SEEK_CUR ? 2 : op->seek == MPI_SEEK_END ? 3 : 0;
    doing("%s%s%s%s at etype %lld%s, %lld × [%s]%s\n    view: displacement %lld, etype %s, filetype %s%s\n    file of "
          "%lld "
          "bytes, %shints %s",
          HOW[op->how], op->is_write ? "write" : "read", WHERE[op->where],
          op->is_collective && op->where != ORDERED ? "_all" : "", (long long)op->position, SEEK[seek],
          (long long)op->count, op->memory->text, op->is_bottom ? " from MPI_BOTTOM" : "",
          (long long)view->displacement, view->etype->text, view->file->text, view->is_external ? ", external32" : "",
          (long long)group->model.size, group->is_atomic ? "atomic, " : "", group->hints);
}

/* ---- the data ---- */

uint8_t op_value(const struct op *op, int64_t position)
{
    return (uint8_t)(mix(op->id, (uint64_t)position / 8) >> (position % 8 * 8));
}

/* Which byte of the data in the file belongs to this one of the data in memory: external32 turns elements round. */
static int64_t in_file(const struct group *group, int rank, const struct op *op, int64_t position)
{
    const uint8_t *left = op->memory->left;
    const int64_t i = position % op->memory->size;
    int64_t before = 0;
    if (!group->views[rank].is_external)
        return position;
    while (before < i && left[i - before - 1] == left[i] + before + 1)
        before++;
    return position - before + left[i];
}

static int64_t in_memory(const struct op *op, int64_t position)
{
    const struct type *type = op->memory;
    return position / type->size * type->extent + type->at[position % type->size];
}

void op_follow(struct group *group, int rank, const struct op *op)
{
    const struct view *view = &group->views[rank];
    const int64_t bytes = op_bytes(op), start = op->position * view->etype->size;
    for (int64_t i = 0; op->is_write && i < bytes; i++)
        model_put(&group->model, view_at(view, start + in_file(group, rank, op, i)), op_value(op, i));
}

/* Memory as it is before the call, and as it must be afterwards. */
static uint8_t *prepare(struct group *group, const struct op *op, struct flight *flight)
{
    const struct view *view = &group->views[group->rank];
    const int64_t low = type_true_lb(op->memory), bytes = op_bytes(op), start = op->position * view->etype->size;
    const int64_t high = op->count ? (op->count - 1) * op->memory->extent + type_true_ub(op->memory) : low;
    flight->bytes = high - low + 2 * GUARD;
    flight->memory = allocate((size_t)flight->bytes);
    flight->wanted = allocate((size_t)flight->bytes);
    for (int64_t i = 0; i < flight->bytes; i++)
        flight->memory[i] = (uint8_t)(mix(op->id + 1, (uint64_t)i));
    for (int64_t i = 0; op->is_write && i < bytes; i++)
        flight->memory[GUARD - low + in_memory(op, i)] = op_value(op, i);
    memcpy(flight->wanted, flight->memory, (size_t)flight->bytes);
    if (!op->is_write) {
        flight->readable = bytes ? model_readable(&group->model, view, start, bytes) : 0;
        for (int64_t i = 0; i < bytes; i++) {
            const int64_t from = in_file(group, group->rank, op, i);
            if (from < flight->readable)
                flight->wanted[GUARD - low + in_memory(op, i)] = model_get(&group->model, view_at(view, start + from));
        }
    }
    return flight->memory + GUARD - low;
}

/* ---- calling ---- */

#define CALL_FUNCTION(direction, constant)                                                                             \
    static int call_##direction(MPI_File file, const struct op *op, constant void *memory, MPI_Datatype type,          \
                                MPI_Status *status, MPI_Request *request)                                              \
    {                                                                                                                  \
        const int count = (int)op->count, all = op->is_collective ? 8 : 0;                                             \
        switch ((int)op->where * 16 + all + (int)op->how) {                                                            \
        case AT * 16 + BLOCKING:                                                                                       \
            return MPI_File_##direction##_at(file, op->position, memory, count, type, status);                         \
        case AT * 16 + NONBLOCKING:                                                                                    \
            return MPI_File_i##direction##_at(file, op->position, memory, count, type, request);                       \
        case AT * 16 + 8 + BLOCKING:                                                                                   \
            return MPI_File_##direction##_at_all(file, op->position, memory, count, type, status);                     \
        case AT * 16 + 8 + NONBLOCKING:                                                                                \
            return MPI_File_i##direction##_at_all(file, op->position, memory, count, type, request);                   \
        case AT * 16 + 8 + SPLIT:                                                                                      \
            return MPI_File_##direction##_at_all_begin(file, op->position, memory, count, type);                       \
        case OWN * 16 + BLOCKING:                                                                                      \
            return MPI_File_##direction(file, memory, count, type, status);                                            \
        case OWN * 16 + NONBLOCKING:                                                                                   \
            return MPI_File_i##direction(file, memory, count, type, request);                                          \
        case OWN * 16 + 8 + BLOCKING:                                                                                  \
            return MPI_File_##direction##_all(file, memory, count, type, status);                                      \
        case OWN * 16 + 8 + NONBLOCKING:                                                                               \
            return MPI_File_i##direction##_all(file, memory, count, type, request);                                    \
        case OWN * 16 + 8 + SPLIT:                                                                                     \
            return MPI_File_##direction##_all_begin(file, memory, count, type);                                        \
        case SHARED * 16 + BLOCKING:                                                                                   \
            return MPI_File_##direction##_shared(file, memory, count, type, status);                                   \
        case SHARED * 16 + NONBLOCKING:                                                                                \
            return MPI_File_i##direction##_shared(file, memory, count, type, request);                                 \
        case ORDERED * 16 + 8 + SPLIT:                                                                                 \
            return MPI_File_##direction##_ordered_begin(file, memory, count, type);                                    \
        default:                                                                                                       \
            return MPI_File_##direction##_ordered(file, memory, count, type, status);                                  \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static int end_##direction(MPI_File file, const struct op *op, constant void *memory, MPI_Status *status)          \
    {                                                                                                                  \
        return op->where == AT    ? MPI_File_##direction##_at_all_end(file, memory, status)                            \
               : op->where == OWN ? MPI_File_##direction##_all_end(file, memory, status)                               \
                                  : MPI_File_##direction##_ordered_end(file, memory, status);                          \
    }

CALL_FUNCTION(read, )
CALL_FUNCTION(write, const)

static void seek_there(struct group *group, const struct op *op)
{
    const struct view *view = &group->views[group->rank];
    int64_t offset = op->position;
    if (op->seek == -1)
        return;
    if (op->seek == MPI_SEEK_CUR)
        offset -= group->own[group->rank];
    else if (op->seek == MPI_SEEK_END)
        offset -= view_end(view, group->model.size);
    group_check(group, MPI_File_seek(group->file, offset, op->seek), "MPI_File_seek");
}

/* At the end of the file fewer bytes come than were asked for; elsewhere all of them. */
static void check_status(const struct op *op, MPI_Status *status, int64_t bytes)
{
    int count = -7, elements = -7, basics = 0;
    const bool is_short = bytes < op_bytes(op);
    bool is_whole = true;
    if (is_short && !has(FEATURE_count))
        return;
    MPI_Get_count(status, op->memory->mpi, &count);
    const int64_t wanted = bytes % op->memory->size ? MPI_UNDEFINED : bytes / op->memory->size;
    if (count != wanted)
        complain("MPI_Get_count says %d in the place of %lld (%lld bytes of %lld)", count, (long long)wanted,
                 (long long)bytes, (long long)op_bytes(op));
    for (int64_t i = 0; i < bytes; i++) {
        is_whole = op->memory->left[i % op->memory->size] == 0;
        basics += is_whole;
    }
    if (!is_whole || !has(FEATURE_elements) || op->memory->is_uncountable)
        return;
    MPI_Get_elements(status, op->memory->mpi, &elements);
    if (elements != basics)
        complain("MPI_Get_elements says %d in the place of %d (%lld bytes of %lld)", elements, basics, (long long)bytes,
                 (long long)op_bytes(op));
}

static void check_memory(const struct op *op, const struct flight *flight)
{
    int64_t wrong = 0, first = -1;
    for (int64_t i = 0; i < flight->bytes; i++) {
        if (flight->memory[i] == flight->wanted[i])
            continue;
        wrong++;
        first = first < 0 ? i : first;
    }
    if (wrong == 0)
        return;
    const int64_t low = type_true_lb(op->memory);
    int64_t position = -1;
    for (int64_t i = op_bytes(op) - 1; i >= 0; i--) {
        if (GUARD - low + in_memory(op, i) == first)
            position = i;
    }
    if (position >= 0 && !op->is_write)
        complain("%lld bytes are wrong after reading %lld, the first is byte %lld of the data: %d in the place of %d",
                 (long long)wrong, (long long)flight->readable, (long long)position, flight->memory[first],
                 flight->wanted[first]);
    else
        complain("%lld bytes of memory that %s were changed, the first at %lld", (long long)wrong,
                 op->is_write ? "are written" : "do not belong to the data", (long long)(first - GUARD + low));
}

/* Bytes of memory that may be anything: behind a short read, or what nobody wrote, where that is not to be checked. */
static void forgive(const struct group *group, struct flight *flight, bool forgive_tail)
{
    const struct view *view = &group->views[group->rank];
    const struct op *op = flight->op;
    const int64_t low = type_true_lb(op->memory), start = op->position * view->etype->size;
    for (int64_t i = 0; i < op_bytes(op); i++) {
        const int64_t at = GUARD - low + in_memory(op, i), from = in_file(group, group->rank, op, i);
        const bool is_read = from < flight->readable;
        if ((!is_read && forgive_tail) || (is_read && !model_knows(&group->model, view_at(view, start + from))))
            flight->wanted[at] = flight->memory[at];
    }
}

static void op_finish(struct group *group, struct flight *flight, int code, MPI_Status *status)
{
    const struct op *op = flight->op;
    const int64_t bytes = op_bytes(op);
    const bool is_well = group_check(group, code, op->is_write ? "write" : "read");
    const bool is_sure = is_well && !group->is_tainted && !group->saw_error;
    if (is_sure)
        check_status(op, status, op->is_write ? bytes : flight->readable);
    if (!is_sure)
        flight->readable = 0;
    if (!op->is_write)
        forgive(group, flight, !has(FEATURE_tail) || !is_sure);
    check_memory(op, flight);
    if (flight->absolute != MPI_DATATYPE_NULL)
        MPI_Type_free(&flight->absolute);
    free(flight->memory);
    free(flight->wanted);
}

static void make_absolute(const struct op *op, void *memory, MPI_Datatype *ret_type)
{
    MPI_Aint address;
    const int one = 1;
    MPI_Get_address(memory, &address);
    MPI_Type_create_hindexed(1, &one, &address, op->memory->mpi, ret_type);
    MPI_Type_commit(ret_type);
}

void op_start(struct group *group, const struct op *op, struct flight *flight)
{
    MPI_Status status;
    int code;
    *flight = (struct flight){.request = MPI_REQUEST_NULL, .absolute = MPI_DATATYPE_NULL, .op = op};
    void *memory = prepare(group, op, flight);
    MPI_Datatype type = op->memory->mpi;
    op_describe(group, op);
    seek_there(group, op);
    if (op->is_bottom) {
        make_absolute(op, memory, &flight->absolute);
        type = flight->absolute;
        memory = MPI_BOTTOM;
    }
    memset(&status, 0x5a, sizeof status);
    fuzz.accesses++;
    fuzz.empty += op->count == 0;
    fuzz.bytes += op_bytes(op);
    code = op->is_write ? call_write(group->file, op, memory, type, &status, &flight->request)
                        : call_read(group->file, op, memory, type, &status, &flight->request);
    if (op->how == NONBLOCKING && code == MPI_SUCCESS)
        return; /* op_wait() comes */
    if (op->how == SPLIT && code == MPI_SUCCESS)
        code = op->is_write ? end_write(group->file, op, memory, &status) : end_read(group->file, op, memory, &status);
    op_finish(group, flight, code, &status);
    flight->op = NULL;
}

void op_wait(struct group *group, struct flight *flight)
{
    MPI_Status status;
    if (!flight->op)
        return;
    op_describe(group, flight->op);
    const int code = MPI_Wait(&flight->request, &status);
    op_finish(group, flight, code, &status);
    flight->op = NULL;
}
