#include "engine/ship/ship_agent.h"
#include "base/thread.h"
#include "engine/mem.h"
#include "engine/ship/ship_core.h"
#include "mpi/wait.h"

#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Combining --------------------------------------------------------------------------------------------------- */

enum { GAP_READ_BYTES = 8192 }; /* reading these from the page cache costs as much as one more system call */

pl_status ship_combine_init(struct ship_combine *combine, struct storage *storage, int64_t buffer_bytes,
                            struct pl_error *error)
{
    assert(buffer_bytes > 0);
    *combine = (struct ship_combine){.storage = storage, .buffer_bytes = buffer_bytes};
    combine->buffer = mem_alloc((size_t)buffer_bytes);
    combine->refs = mem_zalloc((size_t)SHIP_BATCH * SHIP_PIECES, sizeof *combine->refs);
    if (combine->buffer && combine->refs)
        return PL_OK;
    ship_combine_clear(combine);
    return pl_fail(error, PL_E_NOMEM, "no memory for an agent's buffer of %lld bytes", (long long)buffer_bytes);
}

void ship_combine_clear(struct ship_combine *combine)
{
    mem_free(combine->buffer);
    mem_free(combine->refs);
    *combine = (struct ship_combine){0};
}

void ship_combine_add(struct ship_combine *combine, struct ship_box *box)
{
    char *data = box->data;
    for (int i = 0; i < box->pieces; i++) {
        struct ship_piece *piece = &box->piece[i];
        combine->refs[combine->count++] = (struct ship_ref){piece->offset, box, piece, data};
        piece->done = 0;
        data += piece->bytes;
    }
    assert(combine->count <= SHIP_BATCH * SHIP_PIECES && data - box->data <= SHIP_BOX_BYTES);
}

static int ship_combine_by_offset(const void *a, const void *b)
{
    const struct ship_ref *first = a, *second = b;
    return (first->offset > second->offset) - (first->offset < second->offset);
}

static void ship_combine_sort(struct ship_combine *combine)
{
    bool sorted = true; /* one box mostly is */
    for (int64_t i = 1; i < combine->count && sorted; i++)
        sorted = combine->refs[i - 1].offset <= combine->refs[i].offset;
    if (!sorted)
        qsort(combine->refs, (size_t)combine->count, sizeof *combine->refs, ship_combine_by_offset);
}

/* How many pieces from `first` on are accessed as one; *ret_end is behind the last byte of them. Writes must touch,
 * reads may leave short gaps and overlap. */
static int64_t find_run(const struct ship_combine *combine, int64_t first, bool write, int64_t *ret_end)
{
    assert(first >= 0 && first < combine->count);
    const struct ship_ref *refs = combine->refs;
    const int64_t begin = refs[first].offset;
    int64_t next = first + 1, end = begin + refs[first].piece->bytes;
    for (; next < combine->count; next++) {
        const int64_t gap = refs[next].offset - end, behind = refs[next].offset + refs[next].piece->bytes;
        if (write ? gap != 0 : gap > GAP_READ_BYTES)
            break;
        if (behind - begin > combine->buffer_bytes || end - begin > combine->buffer_bytes)
            break;
        end = behind > end ? behind : end;
    }
    *ret_end = end;
    return next - first;
}

/* `done` bytes of the run were moved: what that means for each piece. */
static void share_out(struct ship_ref *refs, int64_t count, int64_t done, bool write, const char *buffer,
                      const struct pl_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        struct ship_piece *piece = refs[i].piece;
        const int64_t there = done - (refs[i].offset - refs[0].offset);
        piece->done = there < 0 ? 0 : there < piece->bytes ? there : piece->bytes;
        if (!write && count > 1)
            memcpy(refs[i].data, buffer + (refs[i].offset - refs[0].offset), (size_t)piece->done);
        if (error->status != PL_OK && piece->done < piece->bytes)
            ship_box_fail(refs[i].box, error);
    }
}

static void move_run(struct ship_combine *combine, struct ship_ref *refs, int64_t count, int64_t bytes, bool write)
{
    assert(count > 0 && bytes > 0 && (count == 1 || bytes <= combine->buffer_bytes));
    char *data = count > 1 ? combine->buffer : refs[0].data;
    struct pl_error error = {0};
    int64_t done = 0;
    if (write && count > 1)
        for (int64_t i = 0; i < count; i++)
            memcpy(data + (refs[i].offset - refs[0].offset), refs[i].data, (size_t)refs[i].piece->bytes);
    if (write)
        storage_write(combine->storage, refs[0].offset, data, bytes, &done, &error);
    else
        storage_read(combine->storage, refs[0].offset, data, bytes, &done, &error);
    combine->calls++;
    assert(done >= 0 && done <= bytes);
    combine->combined += count > 1 ? count : 0;
    share_out(refs, count, done, write, data, &error);
}

/* The pieces as guided prefetching sees them: in the order of the file. */
static struct prefetch_piece ship_combine_next_piece(void *self)
{
    struct ship_combine *combine = self;
    if (combine->looked_at == combine->count)
        return (struct prefetch_piece){0};
    const struct ship_ref *ref = &combine->refs[combine->looked_at++];
    return (struct prefetch_piece){ref->offset, ref->piece->bytes};
}

static bool begin_guide(struct ship_combine *combine, struct prefetch *guide, bool write)
{
    const struct prefetch_pieces pieces = {combine, ship_combine_next_piece};
    combine->looked_at = 0;
    if (write || combine->together == 0 || combine->count == 0 || prefetch_is_regular(&pieces))
        return false;
    combine->looked_at = 0;
    prefetch_begin(guide, combine->storage, combine->prefetch, &pieces, combine->block_bytes, combine->together);
    return true;
}

void ship_combine_run(struct ship_combine *combine, bool write)
{
    struct prefetch guide;
    ship_combine_sort(combine);
    const bool guided = begin_guide(combine, &guide, write);
    for (int64_t first = 0, count; first < combine->count; first += count) {
        int64_t end;
        count = find_run(combine, first, write, &end);
        if (guided)
            prefetch_reach(&guide, combine->refs[first].offset, end - combine->refs[first].offset);
        move_run(combine, &combine->refs[first], count, end - combine->refs[first].offset, write);
    }
    if (guided)
        prefetch_end(&guide);
    combine->count = 0;
}

/* ---- The agent --------------------------------------------------------------------------------------------------- */

struct ship_agent {
    struct ship_agent_setup setup;
    pthread_t thread;
    atomic_bool ends;
    struct ship_port *port; /* the thread's own; NULL: no messages come */
    int idle;               /* turns without anything to do, one after the other */
    pthread_mutex_t busy;   /* while it serves: guards what follows */
    struct ship_combine combine;
    struct ship_cache *cache;
    struct ship_box *batch[SHIP_BATCH];
    int remote, count; /* those from the port come first */
    int next_place;
    struct ship_agent_counts counts;
};

/* ---- serving ---- */

/* Goes on behind the rank where it stopped before, so that none is left waiting by the others. */
static bool find_posted(struct ship_agent *agent)
{
    const struct ship_agent_setup *setup = &agent->setup;
    agent->remote = agent->port ? ship_port_take(agent->port, agent->batch) : 0;
    agent->count = agent->remote;
    for (int i = 0; i < setup->node_ranks && agent->count + SHIP_BOXES <= SHIP_BATCH; i++) {
        const int place = (agent->next_place + i) % setup->node_ranks;
        for (int k = 0; k < SHIP_BOXES; k++) {
            struct ship_box *box = ship_segment_box(setup->segment, setup->node_ranks, place, k);
            if (atomic_load(&box->state) == SHIP_BOX_POSTED + (uint32_t)setup->rank)
                agent->batch[agent->count++] = box;
        }
    }
    assert(agent->remote <= agent->count && agent->count <= SHIP_BATCH);
    agent->next_place = (agent->next_place + 1) % setup->node_ranks;
    return agent->count > 0;
}

static void serve_cached(struct ship_agent *agent, struct ship_box *box)
{
    assert(box->pieces >= 0 && box->pieces <= SHIP_PIECES);
    char *data = box->data;
    for (int i = 0; i < box->pieces; i++) {
        struct ship_piece *piece = &box->piece[i];
        struct pl_error error = {0};
        if (box->command == SHIP_WRITE)
            ship_cache_write(agent->cache, piece->offset, data, piece->bytes, &piece->done, &error);
        else
            ship_cache_read(agent->cache, piece->offset, data, piece->bytes, &piece->done, &error);
        if (error.status != PL_OK)
            ship_box_fail(box, &error);
        data += piece->bytes;
    }
}

static void serve_flush(struct ship_agent *agent, struct ship_box *box)
{
    struct pl_error error = {0};
    if (!agent->cache)
        return;
    if (ship_cache_flush(agent->cache, &error) != PL_OK)
        ship_box_fail(box, &error);
    if (box->command == SHIP_DROP)
        ship_cache_drop(agent->cache);
}

/* All boxes of one command that need no cache, together. */
static void serve_combined(struct ship_agent *agent, enum ship_command command)
{
    const int64_t before = agent->combine.calls;
    for (int i = 0; i < agent->count; i++)
        if (agent->batch[i]->command == (int32_t)command)
            ship_combine_add(&agent->combine, agent->batch[i]);
    ship_combine_run(&agent->combine, command == SHIP_WRITE);
    assert(agent->combine.count == 0 && agent->combine.calls >= before);
    if (command == SHIP_WRITE)
        agent->counts.writes += agent->combine.calls - before;
    else
        agent->counts.reads += agent->combine.calls - before;
}

static void serve_box(struct ship_agent *agent, struct ship_box *box)
{
    switch ((enum ship_command)box->command) {
    case SHIP_READ:
    case SHIP_WRITE:
        if (agent->cache)
            serve_cached(agent, box);
        break;
    case SHIP_FLUSH:
    case SHIP_DROP:
        serve_flush(agent, box);
        break;
    case SHIP_RESIZE:
        atomic_store(&agent->setup.segment->cached_end, 0);
        break;
    case SHIP_END:
        break;
    }
}

static void serve_batch(struct ship_agent *agent)
{
    if (!agent->cache) {
        serve_combined(agent, SHIP_WRITE);
        serve_combined(agent, SHIP_READ);
    }
    for (int i = 0; i < agent->count; i++) {
        struct ship_box *box = agent->batch[i];
        agent->counts.boxes++;
        agent->counts.pieces += box->pieces;
        serve_box(agent, box);
        if (i < agent->remote)
            ship_port_answer(agent->port, box);
        else
            ship_box_answer(box); /* from here on it is its rank's again */
    }
}

/* Messages ring no bell: they are looked for. Where none come, an agent that nobody needs does not wake up. */
static void ship_agent_rest(struct ship_agent *agent, _Atomic uint32_t *bell, uint32_t seen)
{
    if (agent->port)
        wait_idle(&agent->idle, bell, seen);
    else
        syscall(SYS_futex, (uint32_t *)bell, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static bool is_needed(const struct ship_agent *agent)
{
    return !atomic_load(&agent->ends) || (agent->port && !ship_port_is_quiet(agent->port));
}

/* Messages are moved outside of the lock: whoever wants it may be inside of MPI. */
static void *ship_agent_serve(void *arg)
{
    struct ship_agent *agent = arg;
    _Atomic uint32_t *bell = &agent->setup.segment->bells[agent->setup.place].count;
    wait_steps_nothing();
    while (is_needed(agent)) {
        const uint32_t seen = atomic_load(bell); /* before looking: a ring after it is not slept through */
        const bool moved = agent->port && ship_port_poll(agent->port, atomic_load(&agent->ends));
        pthread_mutex_lock(&agent->busy);
        const bool some = find_posted(agent);
        if (some)
            serve_batch(agent);
        pthread_mutex_unlock(&agent->busy);
        if (some || moved)
            agent->idle = 0;
        else if (is_needed(agent))
            ship_agent_rest(agent, bell, seen);
    }
    return NULL;
}

/* ---- starting and ending ---- */

static void ship_agent_give_back(struct ship_agent *agent)
{
    pthread_mutex_destroy(&agent->busy);
    ship_port_free(agent->port);
    ship_cache_free(agent->cache);
    ship_combine_clear(&agent->combine);
    mem_free(agent);
}

pl_status ship_agent_new(const struct ship_agent_setup *setup, struct ship_agent **ret_agent, struct pl_error *error)
{
    assert(setup->node_ranks > 0 && setup->place >= 0 && setup->place < setup->node_ranks);
    assert(setup->buffer_bytes > 0 && setup->block_bytes > 0);
    struct ship_agent *agent = mem_zalloc(1, sizeof *agent);
    if (!agent)
        return pl_fail(error, PL_E_NOMEM, "no memory for an agent");
    agent->setup = *setup;
    pthread_mutex_init(&agent->busy, NULL);
    if (setup->comm != MPI_COMM_NULL)
        ship_port_new(setup->comm, &setup->segment->cached_end, &agent->port, error);
    if (error->status == PL_OK &&
        ship_combine_init(&agent->combine, setup->storage, setup->buffer_bytes, error) == PL_OK) {
        agent->combine.prefetch = setup->prefetch;
        agent->combine.block_bytes = setup->block_bytes;
        agent->combine.together = setup->together;
        if (!thread_start(&agent->thread, ship_agent_serve, agent))
            pl_fail(error, PL_E_SYSTEM, "the system starts no thread for an agent");
    }
    if (error->status != PL_OK) {
        ship_agent_give_back(agent);
        return error->status;
    }
    atomic_store(&setup->segment->bells[setup->place].pid, (int32_t)getpid());
    *ret_agent = agent;
    return PL_OK;
}

void ship_agent_free(struct ship_agent *agent)
{
    if (!agent)
        return;
    struct ship_bell *bell = &agent->setup.segment->bells[agent->setup.place];
    atomic_store(&agent->ends, true);
    atomic_fetch_add(&bell->count, 1);
    wait_wake(&bell->count);
    pthread_join(agent->thread, NULL);
    ship_agent_give_back(agent);
}

void ship_agent_set_cache(struct ship_agent *agent, struct ship_cache *cache)
{
    pthread_mutex_lock(&agent->busy);
    ship_cache_free(agent->cache);
    agent->cache = cache;
    pthread_mutex_unlock(&agent->busy);
}

pl_status ship_agent_flush(struct ship_agent *agent, struct pl_error *error)
{
    error->status = PL_OK;
    pthread_mutex_lock(&agent->busy);
    if (agent->cache)
        ship_cache_flush(agent->cache, error);
    pthread_mutex_unlock(&agent->busy);
    return error->status;
}

void ship_agent_count(struct ship_agent *agent, struct ship_agent_counts *ret_counts,
                      struct ship_cache_counts *ret_cache)
{
    pthread_mutex_lock(&agent->busy);
    *ret_counts = agent->counts;
    ret_counts->combined = agent->combine.combined;
    *ret_cache = agent->cache ? ship_cache_count(agent->cache) : (struct ship_cache_counts){0};
    pthread_mutex_unlock(&agent->busy);
}
