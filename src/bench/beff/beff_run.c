/* The run of b_eff: messages, the methods that send them, and every pattern, message length, method and repetition. */
#include "bench/beff/beff.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/units.h"
#include "lab/facts/environment.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what messages hold ---- */

enum { PLACES = 8 };

static int64_t beff_data_place_of(const struct beff_message *message, int i)
{
    if (i < 2)
        return i == 0 ? 0 : message->length - 1;
    return (int64_t)(rng_at(message->serial, (uint64_t)i) % (uint64_t)message->length);
}

static unsigned char beff_data_byte_of(const struct beff_message *message, int64_t place)
{
    const uint64_t who = ((uint64_t)message->sender << 8) | (uint64_t)message->link;
    return (unsigned char)rng_at(rng_at(message->serial, who), (uint64_t)place);
}

void beff_data_fill(const struct beff_message *message, char *buffer)
{
    for (int i = 0; i < PLACES; i++) {
        const int64_t place = beff_data_place_of(message, i);
        buffer[place] = (char)beff_data_byte_of(message, place);
    }
}

void beff_data_spoil(const struct beff_message *message, char *buffer)
{
    for (int i = 0; i < PLACES; i++) {
        const int64_t place = beff_data_place_of(message, i);
        buffer[place] = (char)~beff_data_byte_of(message, place);
    }
}

static pl_status beff_data_wrong(const struct beff_message *message, int64_t place, unsigned char found,
                                 struct pl_error *error)
{
    return pl_fail(error, PL_E_DATA,
                   "byte %lld of %lld of the message from rank %d (link %d) is 0x%02x in the place of 0x%02x",
                   (long long)place, (long long)message->length, message->sender, message->link, found,
                   beff_data_byte_of(message, place));
}

pl_status beff_data_check(const struct beff_message *message, const char *buffer, struct pl_error *error)
{
    for (int i = 0; i < PLACES; i++) {
        const int64_t place = beff_data_place_of(message, i);
        const unsigned char found = (unsigned char)buffer[place];
        if (found != beff_data_byte_of(message, place))
            return beff_data_wrong(message, place, found, error);
    }
    return PL_OK;
}

enum { TAG = 100, CALLS_MAX = 2 };

/* First and last byte of a message, written before it is sent and looked at when it has come, inside of the timed loop
 * as b_eff 3.6 does: both ends of a message are in the cache then, on both sides. */
struct beff_ends {
    char first, last;
};

struct beff_exchange {
    MPI_Comm world, comm; /* comm: those that take part; the first ranks of the world */
    int rank, nprocs;
    struct beff_links links;
    int calls; /* of MPI_Alltoallv in a round */
    int length;
    char *send, *receive;   /* each of `bytes`; messages of a link stand at the same place of both */
    int64_t bytes, base;    /* base: where the next message stands, beff_walk() */
    bool cached;            /* each round begins at the same place */
    int at[BEFF_LINKS_MAX]; /* of the current round */
    struct beff_ends out[BEFF_LINKS_MAX], in[BEFF_LINKS_MAX];
    int *counts; /* for MPI_Alltoallv: CALLS_MAX times 4 arrays of nprocs */
    int code;    /* the first failure; the loops go on all the same */
    struct {     /* the first byte that came wrong */
        int link;
        int64_t place;
        unsigned char found;
    } wrong; /* link -1: none */
};

/* ---- where messages stand ---- */

static int *beff_counts(const struct beff_exchange *x, int call, int array)
{
    assert(call < CALLS_MAX && array < 4);
    return x->counts + (size_t)(4 * call + array) * (size_t)x->nprocs;
}

/* What is the same in all rounds of a pattern and length. */
static void beff_exchange_prepare(struct beff_exchange *x)
{
    memset(x->counts, 0, 4 * CALLS_MAX * (size_t)x->nprocs * sizeof *x->counts);
    for (int k = 0; k < x->links.count; k++) {
        const int to = x->links.to[k], from = x->links.from[k];
        if (to != BEFF_NOBODY)
            beff_counts(x, beff_link_call(x->links.to, k), 0)[to] = x->length;
        if (from != BEFF_NOBODY)
            beff_counts(x, beff_link_call(x->links.from, k), 2)[from] = x->length;
    }
}

static void beff_round_begin(struct beff_exchange *x)
{
    if (x->cached)
        x->base = 0;
}

/* The place of the next message of link k, with its ends written. */
static int beff_message_begin(struct beff_exchange *x, int k)
{
    const int at = (int)beff_walk(&x->base, x->length, x->bytes);
    x->at[k] = at;
    x->send[at] = x->out[k].first;
    x->send[at + x->length - 1] = x->out[k].last;
    return at;
}

static void beff_message_note(struct beff_exchange *x, int k, int64_t place)
{
    if (x->wrong.link >= 0)
        return;
    x->wrong.link = k;
    x->wrong.place = place;
    x->wrong.found = (unsigned char)x->receive[x->at[k] + place];
}

static void beff_message_end(struct beff_exchange *x, int k)
{
    if (x->links.from[k] == BEFF_NOBODY)
        return;
    const char *received = x->receive + x->at[k];
    if (received[0] != x->in[k].first)
        beff_message_note(x, k, 0);
    if (received[x->length - 1] != x->in[k].last)
        beff_message_note(x, k, x->length - 1);
}

/* ---- the methods ---- */

static void beff_note(struct beff_exchange *x, int code)
{
    if (code != MPI_SUCCESS && x->code == MPI_SUCCESS)
        x->code = code;
}

static void beff_meet_coll(struct beff_exchange *x)
{
    beff_note(x, MPI_Barrier(x->comm));
}

static void beff_sendrecv_coll(struct beff_exchange *x, int64_t rounds)
{
    for (int64_t round = 0; round < rounds; round++) {
        beff_round_begin(x);
        for (int k = 0; k < x->links.count; k++) {
            const int at = beff_message_begin(x, k), to = x->links.to[k], from = x->links.from[k], tag = TAG + k;
            if (from == BEFF_NOBODY)
                beff_note(x, MPI_Send(x->send + at, x->length, MPI_BYTE, to, tag, x->comm));
            else if (to == BEFF_NOBODY)
                beff_note(x, MPI_Recv(x->receive + at, x->length, MPI_BYTE, from, tag, x->comm, MPI_STATUS_IGNORE));
            else
                beff_note(x, MPI_Sendrecv(x->send + at, x->length, MPI_BYTE, to, tag, x->receive + at, x->length,
                                          MPI_BYTE, from, tag, x->comm, MPI_STATUS_IGNORE));
            beff_message_end(x, k);
        }
    }
}

/* Two messages to the same process are two calls, not one message of twice the length. */
static void beff_alltoallv_coll(struct beff_exchange *x, int64_t rounds)
{
    const struct beff_links *links = &x->links;
    for (int64_t round = 0; round < rounds; round++) {
        beff_round_begin(x);
        for (int k = 0; k < links->count; k++) {
            const int at = beff_message_begin(x, k);
            if (links->to[k] != BEFF_NOBODY)
                beff_counts(x, beff_link_call(links->to, k), 1)[links->to[k]] = at;
            if (links->from[k] != BEFF_NOBODY)
                beff_counts(x, beff_link_call(links->from, k), 3)[links->from[k]] = at;
        }
        for (int call = 0; call < x->calls; call++)
            beff_note(x, MPI_Alltoallv(x->send, beff_counts(x, call, 0), beff_counts(x, call, 1), MPI_BYTE, x->receive,
                                       beff_counts(x, call, 2), beff_counts(x, call, 3), MPI_BYTE, x->comm));
        for (int k = 0; k < links->count; k++)
            beff_message_end(x, k);
    }
}

static void beff_nonblocking_coll(struct beff_exchange *x, int64_t rounds)
{
    MPI_Request requests[2 * BEFF_LINKS_MAX];
    MPI_Status statuses[2 * BEFF_LINKS_MAX]; /* gcc takes MPICH's MPI_STATUSES_IGNORE for an array too short */
    const struct beff_links *links = &x->links;
    for (int i = 0; i < 2 * BEFF_LINKS_MAX; i++)
        requests[i] = MPI_REQUEST_NULL; /* where starting one fails */
    for (int64_t round = 0; round < rounds; round++) {
        int count = 0;
        beff_round_begin(x);
        for (int k = 0; k < links->count; k++) {
            const int at = beff_message_begin(x, k);
            if (links->from[k] != BEFF_NOBODY)
                beff_note(x, MPI_Irecv(x->receive + at, x->length, MPI_BYTE, links->from[k], TAG + k, x->comm,
                                       &requests[count++]));
            if (links->to[k] != BEFF_NOBODY)
                beff_note(x, MPI_Isend(x->send + at, x->length, MPI_BYTE, links->to[k], TAG + k, x->comm,
                                       &requests[count++]));
        }
        beff_note(x, MPI_Waitall(count, requests, statuses));
        for (int k = 0; k < links->count; k++)
            beff_message_end(x, k);
    }
}

/* Only the two that play: a barrier of all would let the others wait for cores that these need. */
static void beff_turns_meet_coll(struct beff_exchange *x)
{
    const int other = 1 - x->rank;
    if (x->rank < 2)
        beff_note(
            x, MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG, NULL, 0, MPI_BYTE, other, TAG, x->comm, MPI_STATUS_IGNORE));
}

const struct beff_method BEFF_METHOD_TABLE[BEFF_METHODS] = {
    [BEFF_SENDRECV] = {"sendrecv", "Sendrecv", beff_meet_coll, beff_sendrecv_coll},
    [BEFF_ALLTOALLV] = {"alltoallv", "Alltoallv", beff_meet_coll, beff_alltoallv_coll},
    [BEFF_NONBLOCKING] = {"nonblocking", "nonblocking", beff_meet_coll, beff_nonblocking_coll},
    [BEFF_TURNS] = {"turns", "in turn", beff_turns_meet_coll, beff_sendrecv_coll},
};

bool beff_method_serves(int method, enum beff_kind kind)
{
    return (method == BEFF_TURNS) == (kind == BEFF_PINGPONG);
}

struct beff_course {
    struct lab_run *run;
    const struct beff_options *options;
    struct beff_plan plan;
    struct beff_exchange exchange;
    int *order;
    uint64_t serial; /* of measurements: the same on all ranks */
    bool *done;      /* patterns that the run which is resumed has, by their place in the plan */
    char resumes[64];
    int measured, random_measured; /* patterns, by this run */
    double random_began;
    int repetitions;   /* of the current pattern */
    pl_status written; /* rank 0: of the last set; all learn of it with the next one */
    struct pl_error write_error;
};

/* What all ranks must know of a pattern, in one reduction: doubles only. */
struct beff_shared {
    double seconds[BEFF_LENGTHS][BEFF_METHODS][BEFF_REPETITIONS]; /* of this rank, then of the slowest */
    double wrong[BEFF_LENGTHS];                                   /* 1: messages of this length failed */
    double unwritten;                                             /* 1: results cannot be written */
};

/* One pattern: what goes into its sets. */
struct beff_measured {
    struct beff_pattern pattern;
    int64_t loops[BEFF_LENGTHS][BEFF_METHODS];
    struct beff_shared shared;
    struct pl_error failures[BEFF_LENGTHS]; /* of this rank */
};

/* ---- one measurement ---- */

static struct beff_message beff_message_in(const struct beff_course *course, int k)
{
    const struct beff_exchange *x = &course->exchange;
    return (struct beff_message){course->serial, x->links.from[k], k, x->length};
}

/* The ends of all messages to come, and of the next round the places between them. */
static void beff_fill_messages(struct beff_course *course)
{
    struct beff_exchange *x = &course->exchange;
    int64_t base = x->cached ? 0 : x->base;
    for (int k = 0; k < x->links.count; k++) {
        const struct beff_message out = {course->serial, x->rank, k, x->length}, in = beff_message_in(course, k);
        const int64_t at = beff_walk(&base, x->length, x->bytes), last = x->length - 1;
        x->out[k] = (struct beff_ends){(char)beff_data_byte_of(&out, 0), (char)beff_data_byte_of(&out, last)};
        x->in[k] = (struct beff_ends){(char)beff_data_byte_of(&in, 0), (char)beff_data_byte_of(&in, last)};
        beff_data_fill(&out, x->send + at);
        beff_data_spoil(&in, x->receive + at);
    }
}

static pl_status beff_check_round(const struct beff_course *course, struct pl_error *error)
{
    const struct beff_exchange *x = &course->exchange;
    for (int k = 0; k < x->links.count; k++) {
        const struct beff_message in = beff_message_in(course, k);
        if (x->links.from[k] != BEFF_NOBODY && beff_data_check(&in, x->receive + x->at[k], error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

static pl_status beff_check_loop(const struct beff_course *course, struct pl_error *error)
{
    const struct beff_exchange *x = &course->exchange;
    if (x->code != MPI_SUCCESS)
        return coll_fail_mpi(error, x->code, "sending and receiving");
    if (x->wrong.link < 0)
        return PL_OK;
    const struct beff_message in = beff_message_in(course, x->wrong.link);
    return beff_data_wrong(&in, x->wrong.place, x->wrong.found, error);
}

/* One loop with one method and the i-th length. Returns its time on this rank. */
static double beff_measure_coll(struct beff_course *course, struct beff_measured *set, int i, int m)
{
    const struct beff_method *method = &BEFF_METHOD_TABLE[m];
    struct beff_exchange *x = &course->exchange;
    struct pl_error wrong;
    pl_status status = PL_OK;
    assert(set->loops[i][m] >= 1);
    course->serial++;
    x->code = MPI_SUCCESS;
    x->wrong.link = -1;
    x->length = (int)course->plan.lengths[i];
    beff_exchange_prepare(x);
    beff_fill_messages(course);
    double seconds = 0;
    if (x->comm != MPI_COMM_NULL) {
        method->meet_coll(x);
        if (i < BEFF_WARM_LENGTHS) { /* also makes the connections */
            method->loop_coll(x, 1);
            status = beff_check_round(course, &wrong);
        }
        const double began = MPI_Wtime();
        method->loop_coll(x, set->loops[i][m]);
        seconds = MPI_Wtime() - began;
    }
    if (beff_pattern_used(set->pattern, x->nprocs) < x->nprocs)
        coll_barrier_quiet_coll(x->world); /* the idle ones must not compete for the cores of those that send */
    if (status == PL_OK)
        status = beff_check_loop(course, &wrong);
    if (status != PL_OK && set->shared.wrong[i] == 0) {
        set->shared.wrong[i] = 1;
        pl_fail(&set->failures[i], status, "%s: %.900s", method->label, wrong.text);
    }
    return seconds;
}

/* The loop lengths of the next length, by the first repetition of this one. A loop is never lengthened again, so one
 * disturbance would shorten all to come: what took longer than it should is looked at again, and the least counts. */
static void beff_next_loops_coll(struct beff_course *course, struct beff_measured *set, int i)
{
    enum { TRIES = 3 };
    const double target_s = course->plan.loop_target_s;
    double least[BEFF_METHODS], mine[BEFF_METHODS];
    for (int m = 0; m < BEFF_METHODS; m++)
        mine[m] = set->shared.seconds[i][m][0];
    MPI_Allreduce(mine, least, BEFF_METHODS, MPI_DOUBLE, MPI_MAX, course->run->world);
    for (int m = 0; m < BEFF_METHODS; m++) {
        if (!beff_method_serves(m, set->pattern.kind))
            continue;
        for (int try = 1; try < TRIES && least[m] > 2 * target_s && set->loops[i][m] > 1; try++) {
            double again = beff_measure_coll(course, set, i, m), slowest;
            MPI_Allreduce(&again, &slowest, 1, MPI_DOUBLE, MPI_MAX, course->run->world);
            least[m] = slowest < least[m] ? slowest : least[m];
        }
        set->loops[i + 1][m] = beff_loop_next(set->loops[i][m], least[m], target_s);
    }
}

/* Repetitions lie apart, so that a disturbance of the machine hits one of them and not all. */
static void beff_measure_all_coll(struct beff_course *course, struct beff_measured *set)
{
    assert(course->repetitions >= 1 && course->repetitions <= BEFF_REPETITIONS);
    for (int m = 0; m < BEFF_METHODS; m++)
        set->loops[0][m] = course->plan.loop_first;
    for (int r = 0; r < course->repetitions; r++)
        for (int i = 0; i < BEFF_LENGTHS; i++) {
            for (int m = 0; m < BEFF_METHODS; m++)
                if (beff_method_serves(m, set->pattern.kind))
                    set->shared.seconds[i][m][r] = beff_measure_coll(course, set, i, m);
            if (r == 0 && i + 1 < BEFF_LENGTHS)
                beff_next_loops_coll(course, set, i);
        }
}

/* ---- its sets ---- */

static pl_status beff_write_set(const struct beff_course *course, const struct beff_measured *set, int i,
                                const struct coll_verdict *verdict, struct pl_error *error)
{
    char name[BEFF_NAME_MAX], key[BEFF_NAME_MAX];
    struct blockfile_writer *writer = course->run->writer;
    blockfile_set(writer);
    blockfile_param(writer, "pattern", "%s", beff_pattern_name(set->pattern, name));
    blockfile_param(writer, "length_bytes", "%" PRId64, course->plan.lengths[i]);
    blockfile_param(writer, "messages", "%" PRId64, beff_pattern_messages(set->pattern, course->plan.nprocs));
    for (int m = 0; m < BEFF_METHODS; m++)
        if (beff_method_serves(m, set->pattern.kind)) {
            snprintf(key, sizeof key, "%s_loops", BEFF_METHOD_TABLE[m].name);
            blockfile_param(writer, key, "%" PRId64, set->loops[i][m]);
        }
    for (int m = 0; m < BEFF_METHODS; m++) {
        if (!beff_method_serves(m, set->pattern.kind))
            continue;
        int64_t times_ns[BEFF_REPETITIONS];
        for (int r = 0; r < course->repetitions; r++) {
            const double seconds = set->shared.seconds[i][m][r];
            times_ns[r] = seconds > 1e-9 ? (int64_t)(seconds * 1e9 + 0.5) : 1;
        }
        blockfile_series(writer, 0, BEFF_METHOD_TABLE[m].name, "ns", course->repetitions);
        blockfile_values(writer, times_ns, (size_t)course->repetitions);
    }
    if (verdict->status != PL_OK)
        blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
    return blockfile_end_set(writer, error);
}

/* The times of the slowest, and whether anybody is in trouble: with many ranks on few cores each further meeting of all
 * would cost as much as a measurement. That is why sets are not written by lab_set_write_coll(). As b_eff 3.6 counts,
 * the process with the least bytes in a second decides, also where others send more messages than rank 0. */
static void beff_reduce_coll(const struct beff_course *course, struct beff_measured *set)
{
    const struct beff_exchange *x = &course->exchange;
    struct beff_shared mine = set->shared;
    mine.unwritten = course->written != PL_OK;
    if (set->pattern.as36 && x->links.count) {
        const struct beff_links first = beff_pattern_links(set->pattern, x->nprocs, 0, course->plan.seed,
                                                           course->order);
        for (int i = 0; i < BEFF_LENGTHS; i++)
            for (int m = 0; m < BEFF_METHODS; m++)
                for (int r = 0; r < BEFF_REPETITIONS; r++)
                    mine.seconds[i][m][r] *= (double)first.count / x->links.count;
    }
    MPI_Allreduce(&mine, &set->shared, sizeof mine / sizeof(double), MPI_DOUBLE, MPI_MAX, course->run->world);
}

static pl_status beff_sets_coll(struct beff_course *course, struct beff_measured *set, struct pl_error *error)
{
    struct lab_run *run = course->run;
    beff_reduce_coll(course, set);
    if (set->shared.unwritten > 0) {
        struct coll_verdict verdict;
        *error = course->write_error;
        return coll_agree_coll(run->world, course->written, error, &verdict);
    }
    for (int i = 0; i < BEFF_LENGTHS; i++) {
        struct coll_verdict verdict = {.status = PL_OK, .rank = -1};
        if (set->shared.wrong[i] > 0) {
            char label[BEFF_NAME_MAX], words[2 * BEFF_NAME_MAX];
            coll_agree_coll(run->world, set->failures[i].status, &set->failures[i], &verdict);
            snprintf(words, sizeof words, "%s, messages of %lld bytes", beff_pattern_label(set->pattern, label),
                     (long long)course->plan.lengths[i]);
            lab_failed(run, words, &verdict);
        }
        if (run->rank == 0 && course->written == PL_OK)
            course->written = beff_write_set(course, set, i, &verdict, &course->write_error);
    }
    return PL_OK;
}

/* ---- patterns ---- */

/* Those that a grid leaves out take no part in its collective calls. */
static void beff_members_coll(struct beff_exchange *x, struct beff_pattern pattern)
{
    const int used = beff_pattern_used(pattern, x->nprocs);
    x->comm = x->world;
    if (used < x->nprocs && (pattern.kind == BEFF_CART2 || pattern.kind == BEFF_CART3))
        beff_note(x, MPI_Comm_split(x->world, x->rank < used ? 0 : MPI_UNDEFINED, x->rank, &x->comm));
}

static pl_status beff_pattern_coll(struct beff_course *course, struct beff_pattern pattern, struct pl_error *error)
{
    struct beff_measured set = {.pattern = pattern};
    struct beff_exchange *x = &course->exchange;
    x->links = beff_pattern_links(pattern, course->plan.nprocs, course->run->rank, course->plan.seed, course->order);
    x->calls = beff_pattern_calls(pattern, course->plan.nprocs);
    beff_members_coll(x, pattern);
    beff_measure_all_coll(course, &set);
    if (x->comm != MPI_COMM_NULL && x->comm != x->world)
        MPI_Comm_free(&x->comm);
    course->measured++;
    course->random_measured += pattern.kind == BEFF_RANDOM && !pattern.as36;
    return beff_sets_coll(course, &set, error);
}

/* Patterns from `index` on that must be measured, whatever the time: all but the random ones behind the first. */
static int beff_must(const struct beff_course *course, int index)
{
    const int end = beff_pattern_count(course->plan.nprocs, 1);
    int count = 0;
    for (; index < end; index++)
        count += !course->done[index];
    return count > 1 ? count : 1;
}

/* Random patterns come last; rank 0's clock decides whether there is time for another one, and for how many
 * repetitions. */
static bool beff_has_time_coll(struct beff_course *course, int index, struct beff_pattern pattern)
{
    const double now = MPI_Wtime(), began = course->run->began_s;
    course->repetitions = beff_repetitions(now - began, course->measured, beff_must(course, index),
                                           course->plan.time_s);
    if (pattern.kind == BEFF_RANDOM && course->random_measured == 0)
        course->random_began = now;
    if (course->random_measured > 0 && !pattern.as36 && /* both forms of a pattern are measured, or none */
        now + (now - course->random_began) / course->random_measured > began + course->plan.time_s)
        course->repetitions = 0;
    MPI_Bcast(&course->repetitions, 1, MPI_INT, 0, course->run->world);
    return course->repetitions > 0;
}

static pl_status beff_patterns_coll(struct beff_course *course, struct pl_error *error)
{
    const struct beff_plan *plan = &course->plan;
    const int count = beff_pattern_count(plan->nprocs, plan->random_patterns);
    struct beff_pattern pattern;
    pl_status status = PL_OK;
    lab_plan(course->run, count, count);
    for (int i = 0; status == PL_OK && beff_pattern_next(plan->nprocs, plan->random_patterns, i, &pattern); i++) {
        char label[BEFF_NAME_MAX];
        assert(i < count);
        if (course->done[i]) {
            lab_skip(course->run, 1);
            continue;
        }
        if (!beff_has_time_coll(course, i, pattern))
            break;
        lab_step(course->run, 1, "%s", beff_pattern_label(pattern, label));
        status = beff_pattern_coll(course, pattern, error);
    }
    if (status == PL_OK && course->run->rank == 0 && course->written != PL_OK) {
        *error = course->write_error;
        status = course->written;
    }
    return status;
}

/* ---- the head ---- */

static pl_status beff_head_coll(struct beff_course *course, struct pl_error *error)
{
    const struct beff_plan *plan = &course->plan;
    struct blockfile_writer *writer = course->run->writer;
    lab_block_begin(course->run, BEFF_CLASS, BEFF_TEST);
    if (course->run->rank == 0) {
        if (course->resumes[0])
            blockfile_fact(writer, "resumes", "%s", course->resumes);
        blockfile_fact(writer, "seed", "%" PRIu64, plan->seed);
        blockfile_fact(writer, "memory_per_process_bytes", "%" PRId64, plan->memory_bytes);
        blockfile_fact(writer, "memory_per_process_from", "%s", plan->memory_given ? "option" : "detected");
        blockfile_fact(writer, "length_max_bytes", "%" PRId64, plan->lengths[BEFF_LENGTHS - 1]);
        blockfile_fact(writer, "random_patterns", "%d", plan->random_patterns);
        blockfile_fact(writer, "repetitions", "%d", BEFF_REPETITIONS);
        blockfile_fact(writer, "addresses", "%s", plan->cached ? "fixed" : "walk");
        blockfile_fact(writer, "loops_first", "%" PRId64, plan->loop_first);
        blockfile_fact(writer, "loop_target_ns", "%.0f", plan->loop_target_s * 1e9);
        blockfile_fact(writer, "time_limit_s", "%.15g", plan->time_s);
    }
    return lab_block_head_coll(course->run, ".", error);
}

/* ---- before and after ---- */

/* What the run that is resumed drew and found counts: its random patterns and its message lengths go on. */
struct beff_earlier {
    int64_t memory_bytes; /* 0: nothing is resumed */
    int64_t seed, random_patterns;
    double time_s;
    bool memory_given;
};

/* On rank 0. Sets of one pattern are taken as a whole: loop lengths follow from the length before. */
static pl_status beff_look_back(struct beff_course *course, struct beff_earlier *earlier, struct pl_error *error)
{
    struct blockfile *file;
    const struct blockfile_block *block = lab_resumed(course->run, &file);
    struct beff_results results;
    if (!block)
        return PL_OK;
    if (beff_results_read(file, block, &results, error) != PL_OK)
        return error->status;
    const char *seed = blockfile_fact_of(block, "seed"), *from = blockfile_fact_of(block, "memory_per_process_from");
    *earlier = (struct beff_earlier){.memory_bytes = (int64_t)beff_fact(&results, "memory_per_process_bytes", 0),
                                     .random_patterns = (int64_t)beff_fact(&results, "random_patterns", 0),
                                     .time_s = beff_fact(&results, "time_limit_s", 0),
                                     .memory_given = from && strcmp(from, "option") == 0};
    pl_status status = PL_OK;
    if (!seed || !units_parse_int(seed, 0, INT64_MAX, &earlier->seed) || earlier->memory_bytes < BEFF_MEMORY_LEAST ||
        earlier->random_patterns < 1 || earlier->random_patterns > BEFF_RANDOM_MOST)
        status = pl_fail(error, PL_E_USAGE, "the run to resume does not say its seed, memory and random patterns");
    else if (results.nprocs != course->run->size)
        status = pl_fail(error, PL_E_USAGE, "ranks: %d, but the run to resume has %d; allowed: the same",
                         course->run->size, results.nprocs);
    else if (!blockfile_fact_of(block, "addresses"))
        status = pl_fail(
            error, PL_E_USAGE,
            "the run to resume was made by release 0.1.0, which had messages in the cache; start a new one");
    else if (block->complete)
        status = pl_fail(error, PL_E_USAGE, "the last run of b_eff in '%s' is complete: nothing to resume", file->path);
    snprintf(course->resumes, sizeof course->resumes, "%s", block->id);
    struct beff_pattern pattern;
    for (int i = 0; status == PL_OK && beff_pattern_next(results.nprocs, (int)earlier->random_patterns, i, &pattern);
         i++) {
        const struct beff_row *row = beff_row_of(&results, pattern);
        course->done = memory_grow(course->done, (size_t)i, sizeof *course->done);
        course->done[i] = row && beff_row_is_complete(&results, row);
    }
    beff_results_clear(&results);
    return status;
}

static pl_status beff_check_memory(const struct beff_plan *plan, int node_ranks, struct pl_error *error)
{
    const int64_t needed = beff_plan_buffer_bytes(plan) * node_ranks;
    const int64_t available = environment_memory_available_bytes();
    if (available <= 0 || needed <= available)
        return PL_OK;
    return pl_fail(error, PL_E_USAGE,
                   "the %d ranks of this node need %lld bytes for messages of up to %lld bytes, and %lld are "
                   "available; give a smaller --memory",
                   node_ranks, (long long)needed, (long long)plan->lengths[BEFF_LENGTHS - 1], (long long)available);
}

static pl_status beff_plan_coll(struct beff_course *course, struct pl_error *error)
{
    struct lab_run *run = course->run;
    const int node_ranks = environment_node_ranks_coll(run->world);
    int64_t mine = environment_memory_bytes() / node_ranks, least = 0;
    struct beff_earlier earlier = {0};
    struct coll_verdict verdict;
    pl_status status = run->rank == 0 ? beff_look_back(course, &earlier, error) : PL_OK;
    if (coll_agree_coll(run->world, status, error, &verdict) != PL_OK)
        return verdict.status;
    MPI_Bcast(&earlier, sizeof earlier, MPI_BYTE, 0, run->world);
    MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, run->world);
    struct beff_options options = *course->options;
    if (earlier.memory_bytes) { /* results of former releases have these as facts alone */
        options.random_patterns = earlier.random_patterns;
        options.time_s = earlier.time_s;
        options.memory_bytes = earlier.memory_given ? earlier.memory_bytes : 0;
        least = earlier.memory_bytes;
    }
    if (beff_plan_make(&options, run->size, least, &course->plan, error) != PL_OK)
        return error->status; /* the same on every rank */
    if (earlier.memory_bytes)
        course->plan.seed = (uint64_t)earlier.seed;
    else if (!options_given(&run->job->all, "seed"))
        course->plan.seed = rng_seed_from_system() >> 11; /* exact as a number of JSON */
    MPI_Bcast(&course->plan.seed, 1, MPI_UINT64_T, 0, run->world);
    coll_agree_coll(run->world, beff_check_memory(&course->plan, node_ranks, error), error, &verdict);
    return verdict.status == PL_OK ? PL_OK : pl_fail(error, verdict.status, "rank %d: %s", verdict.rank, verdict.text);
}

static pl_status beff_take_memory(struct beff_course *course, struct pl_error *error)
{
    struct beff_exchange *x = &course->exchange;
    const int nprocs = course->plan.nprocs;
    const size_t bytes = (size_t)beff_plan_buffer_bytes(&course->plan) / 2;
    const int patterns = beff_pattern_count(nprocs, course->plan.random_patterns);
    assert(nprocs >= 2 && patterns > 0);
    *x = (struct beff_exchange){.world = course->run->world,
                                .rank = course->run->rank,
                                .nprocs = nprocs,
                                .bytes = (int64_t)bytes,
                                .cached = course->plan.cached};
    x->send = malloc(bytes);
    x->receive = malloc(bytes);
    x->counts = calloc(4 * CALLS_MAX * (size_t)nprocs, sizeof *x->counts);
    course->order = calloc((size_t)nprocs, sizeof *course->order);
    if (!course->done) /* else rank 0 has it from the run that is resumed */
        course->done = calloc((size_t)patterns, sizeof *course->done);
    if (!x->send || !x->receive || !x->counts || !course->order || !course->done)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for messages: %zu bytes", 2 * bytes);
    memset(x->send, 1, bytes); /* pages that were never written would all be one page of zeros */
    memset(x->receive, 2, bytes);
    return PL_OK;
}

pl_status beff_run_coll(struct lab_run *run, struct pl_error *error)
{
    struct beff_course course = {.run = run, .options = run->job->own};
    struct coll_verdict verdict;
    pl_status status = beff_plan_coll(&course, error);
    if (status == PL_OK)
        status = coll_agree_coll(run->world, beff_take_memory(&course, error), error, &verdict);
    if (status == PL_OK) {
        const int patterns = beff_pattern_count(course.plan.nprocs, course.plan.random_patterns);
        MPI_Bcast(course.done, patterns * (int)sizeof *course.done, MPI_BYTE, 0, run->world);
        status = beff_head_coll(&course, error);
        if (status == PL_OK)
            status = lab_block_end_coll(run, beff_patterns_coll(&course, error), error);
    }
    free(course.exchange.send);
    free(course.exchange.receive);
    free(course.exchange.counts);
    free(course.order);
    free(course.done);
    return status;
}
