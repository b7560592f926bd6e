#include "engine/ring/ring.h"

#include "engine/coverage/coverage.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "engine/ring/ring_core.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum {
    AGGREGATORS_MAX = 2, /* of a node: one sends while the other stores */
    LETTERS = 4,         /* of each kind under way */
    TAGS = 4096,         /* blocks that are told apart by their tags: far more than are under way */
};
enum letter_kind { KIND_DATA, KIND_ASK = KIND_DATA, KIND_REPLY, KINDS };

/* What a message begins with; the code of the bytes it speaks of, and the bytes themselves follow. */
struct letter_head {
    int64_t call, block;
    int64_t code_bytes, data_bytes;
    int64_t valid; /* a reply: how many of the block's wanted bytes the file has */
};

enum letter_state {
    LETTER_FREE,
    LETTER_UNDER_WAY,
    LETTER_ARRIVED, /* and not dealt with: a question waits for its block */
};

struct letter {
    char *bytes;
    MPI_Request request;
    enum letter_state state;
    int64_t block;
    int node;
};

/* The block of this node whose messages are being expected. */
struct inbox {
    int64_t block;
    int next;     /* node whose message comes next */
    int expected; /* messages */
};

struct ring_port {
    MPI_Comm comm;
    int nodes, node, number, aggregators;
    MPI_Request meeting;
    int64_t mine[RING_SUMMARY], *all;
    char *memory;
    size_t letter_bytes;
    struct letter in[LETTERS];  /* data, or questions, from other nodes */
    struct letter out[LETTERS]; /* data to other nodes, or replies to their questions */
    struct letter ask[LETTERS], reply[LETTERS];
    struct inbox inbox;
    int left[RING_SLOTS_MAX]; /* messages that a block still lacks; below 0 while not all are expected yet */
};

/* ---- opening ---- */

static pl_status make_port(struct ring *ring, MPI_Comm comm, int number, int aggregators, struct pl_error *error)
{
    assert(number >= 0 && number < aggregators);
    struct ring_port *port = mem_zalloc(1, sizeof *port);
    int nodes;
    real.Comm_size(comm, &nodes);
    if (port)
        port->all = mem_zalloc((size_t)nodes * RING_SUMMARY, sizeof *port->all);
    if (!port || !port->all) {
        mem_free(port);
        return pl_fail(error, PL_E_NOMEM, "no memory for access across nodes");
    }
    port->comm = comm;
    port->nodes = nodes;
    port->number = number;
    port->aggregators = aggregators;
    real.Comm_rank(comm, &port->node);
    ring->port = port;
    return PL_OK;
}

pl_status ring_port_open_coll(struct ring *ring, MPI_Comm comm, const struct node *node, struct pl_error *error)
{
    const int64_t mine = node->size;
    int64_t least = 1;
    MPI_Request request;
    if (real.Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
    const int aggregators = least < AGGREGATORS_MAX ? (int)least : AGGREGATORS_MAX;
    MPI_Comm port = MPI_COMM_NULL;
    wait_enter();
    const int code = real.Comm_split(comm, node->rank < aggregators ? node->rank : MPI_UNDEFINED, node->leader, &port);
    wait_leave();
    if (code != MPI_SUCCESS)
        return error_from_mpi(code, "making a communicator of the nodes", error);
    if (port == MPI_COMM_NULL)
        return PL_OK;
    if (!ring || make_port(ring, port, node->rank, aggregators, error) != PL_OK)
        real.Comm_free(&port);
    return error->status;
}

void ring_port_free(struct ring_port *port)
{
    if (!port)
        return;
    real.Comm_free(&port->comm);
    mem_free(port->memory);
    mem_free(port->all);
    mem_free(port);
}

int ring_port_node(const struct ring_port *port)
{
    return port->node;
}

bool ring_port_leads(const struct ring_port *port)
{
    return port->number == 0;
}

void ring_port_gather_start(struct ring_port *port, const int64_t mine[RING_SUMMARY])
{
    assert(ring_port_leads(port));
    memcpy(port->mine, mine, sizeof port->mine);
    if (real.Iallgather(port->mine, RING_SUMMARY, MPI_INT64_T, port->all, RING_SUMMARY, MPI_INT64_T, port->comm,
                        &port->meeting) != MPI_SUCCESS) {
        port->meeting = MPI_REQUEST_NULL;
        for (int i = 0; i < port->nodes * RING_SUMMARY; i++)
            port->all[i] = 1; /* all have failed, in a meeting at the beginning and in one at the end */
    }
}

const int64_t *ring_port_gathered(struct ring_port *port)
{
    int done = 0;
    if (real.Test(&port->meeting, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        done = 1;
    return done ? port->all : NULL;
}

/* ---- a call ---- */

static void ring_port_lay_out(struct letter *letters, char **memory, size_t bytes)
{
    for (int i = 0; i < LETTERS; i++, *memory += bytes)
        letters[i] = (struct letter){.bytes = *memory, .request = MPI_REQUEST_NULL};
}

/* Data go in and out when writing; when reading, questions are short and answers long. */
pl_status ring_port_prepare(struct ring *ring, struct pl_error *error)
{
    struct ring_port *port = ring->port;
    int slots;
    const int64_t block_bytes = ring_block_bytes(ring, &slots);
    const size_t line = RING_LINE,
                 few = (sizeof(struct letter_head) + coverage_code_bytes(block_bytes)) / line * line + line;
    const size_t many = few + (size_t)block_bytes, whole = LETTERS * (2 * many + 2 * few);
    assert(many <= INT_MAX);
    if (many != port->letter_bytes) {
        mem_free(port->memory);
        port->letter_bytes = 0;
        port->memory = mem_alloc(whole);
        if (!port->memory)
            return pl_fail(error, PL_E_NOMEM, "no memory for the %zu bytes of messages between nodes", whole);
        port->letter_bytes = many;
    }
    char *memory = port->memory;
    ring_port_lay_out(port->out, &memory, many);
    ring_port_lay_out(ring->request->write ? port->in : port->reply, &memory, many);
    ring_port_lay_out(ring->request->write ? port->reply : port->in, &memory, few);
    ring_port_lay_out(port->ask, &memory, few);
    return PL_OK;
}

static bool ring_port_is_own(const struct ring *ring, int64_t block)
{
    return block / ring->plan.nodes % ring->port->aggregators == ring->port->number;
}

/* The first block of this node and aggregator at or behind `block`. */
static int64_t own_from(const struct ring *ring, int64_t block)
{
    while (block <= ring->plan.last && !(block % ring->plan.nodes == ring->plan.node && ring_port_is_own(ring, block)))
        block++;
    return block;
}

static bool ring_port_covers(const struct ring *ring, int node, int64_t block)
{
    return node != ring->plan.node && block >= ring->spans[node].first && block <= ring->spans[node].last;
}

static void next_inbox(struct ring *ring, int64_t from)
{
    struct inbox *inbox = &ring->port->inbox;
    *inbox = (struct inbox){.block = own_from(ring, from)};
    if (inbox->block > ring->plan.last)
        return;
    for (int i = 0; i < ring->plan.nodes; i++)
        inbox->expected += ring_port_covers(ring, i, inbox->block);
}

void ring_port_begin(struct ring *ring)
{
    assert(ring->stage == STAGE_MOVE);
    memset(ring->port->left, 0, sizeof ring->port->left);
    next_inbox(ring, ring->plan.first);
}

static struct letter *find_free(struct letter letters[LETTERS])
{
    for (int i = 0; i < LETTERS; i++)
        if (letters[i].state == LETTER_FREE)
            return &letters[i];
    return NULL;
}

static int tag_of(const struct ring *ring, int64_t block, enum letter_kind kind)
{
    return (int)(block / ring->plan.nodes % TAGS) * KINDS + (int)kind;
}

static void ring_port_note_mpi(struct ring *ring, int code)
{
    struct pl_error error;
    error_from_mpi(code, "exchanging data between nodes", &error);
    ring_note(ring, &error);
}

static void post_receive(struct ring *ring, struct letter *letter, int node, int64_t block, enum letter_kind kind)
{
    assert(letter->state == LETTER_FREE && node != ring->plan.node);
    *letter = (struct letter){.bytes = letter->bytes, .state = LETTER_UNDER_WAY, .block = block, .node = node};
    const size_t few =
        (sizeof(struct letter_head) + coverage_code_bytes(ring->plan.block_bytes)) / RING_LINE * RING_LINE + RING_LINE;
    const bool is_short = kind == KIND_ASK && !ring->request->write;
    const int code = real.Irecv(letter->bytes, (int)(is_short ? few : ring->port->letter_bytes), MPI_BYTE, node,
                                tag_of(ring, block, kind), ring->port->comm, &letter->request);
    if (code != MPI_SUCCESS) {
        letter->request = MPI_REQUEST_NULL;
        ring_port_note_mpi(ring, code);
    }
}

static void post_send(struct ring *ring, struct letter *letter, int node, int64_t block, enum letter_kind kind)
{
    assert(letter->state == LETTER_FREE && node != ring->plan.node);
    const struct letter_head *head = (const struct letter_head *)letter->bytes;
    const int64_t bytes = (int64_t)sizeof *head + head->code_bytes + head->data_bytes;
    assert(bytes <= (int64_t)ring->port->letter_bytes);
    letter->state = LETTER_UNDER_WAY;
    letter->block = block;
    letter->node = node;
    const int code = real.Isend(letter->bytes, (int)bytes, MPI_BYTE, node, tag_of(ring, block, kind), ring->port->comm,
                                &letter->request);
    if (code != MPI_SUCCESS) {
        letter->request = MPI_REQUEST_NULL;
        ring_port_note_mpi(ring, code);
    }
}

/* Has the message gone, or come? */
static bool ring_port_is_through(struct ring *ring, struct letter *letter)
{
    int done = 0;
    const int code = real.Test(&letter->request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        ring_port_note_mpi(ring, code);
    return done || code != MPI_SUCCESS;
}

/* ---- what is in a letter ---- */

static unsigned char *letter_code(const struct letter *letter)
{
    return (unsigned char *)letter->bytes + sizeof(struct letter_head);
}

static char *letter_data(const struct letter *letter)
{
    const struct letter_head *head = (const struct letter_head *)letter->bytes;
    return letter->bytes + sizeof *head + head->code_bytes;
}

/* Goes through the runs of a letter: copies between its data and the block. Returns the bytes of data. */
enum letter_use { USE_PACK, USE_UNPACK, USE_COUNT };

static int64_t ring_port_walk(struct ring *ring, struct letter *letter, struct ring_slot *slot,
                              const unsigned char *code, size_t code_bytes, enum letter_use use)
{
    struct coverage_reader reader;
    char *block = ring_memory(ring, slot), *data = letter_data(letter);
    int64_t begin, length, bytes = 0;
    coverage_reader_init(&reader, code, code_bytes, ring->plan.block_bytes);
    while (coverage_reader_next(&reader, &begin, &length)) {
        if (use == USE_PACK)
            memcpy(data + bytes, block + begin, (size_t)length);
        else if (use == USE_UNPACK)
            memcpy(block + begin, data + bytes, (size_t)length);
        bytes += length;
    }
    return bytes;
}

static void ring_port_write_head(const struct ring *ring, struct letter *letter, int64_t block, size_t code_bytes)
{
    struct letter_head *head = (struct letter_head *)letter->bytes;
    *head = (struct letter_head){.call = ring->calls, .block = block, .code_bytes = (int64_t)code_bytes};
}

/* Another call's, another block's, or broken: an error, never wrong data. */
static bool is_right(struct ring *ring, const struct letter *letter)
{
    const struct letter_head *head = (const struct letter_head *)letter->bytes;
    const int64_t room = (int64_t)(ring->port->letter_bytes - sizeof *head);
    if (letter->request == MPI_REQUEST_NULL && head->call == ring->calls && head->block == letter->block &&
        head->code_bytes > 0 && head->code_bytes <= room && head->data_bytes >= 0 &&
        head->data_bytes <= room - head->code_bytes)
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_MPI, "a message between nodes speaks of block %lld of call %lld; expected: %lld of %lld",
            (long long)head->block, (long long)head->call, (long long)letter->block, (long long)ring->calls);
    ring_note(ring, &error);
    return false;
}

static void clear_cover(struct ring *ring, struct ring_slot *slot)
{
    memset(ring_coverage(ring, slot), 0, (size_t)(ring->plan.block_bytes / 8));
}

/* ---- writing ---- */

/* Data of this node for another one's block: all its ranks have passed it. */
static bool send_data(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    assert(ring_role(ring, block) == ROLE_OTHER);
    struct letter *letter = find_free(ring->port->out);
    if (!letter || !ring_claim(slot, block))
        return false;
    const size_t code_bytes = coverage_encode(ring_coverage(ring, slot), ring->plan.block_bytes, letter_code(letter));
    ring_port_write_head(ring, letter, block, code_bytes);
    struct letter_head *head = (struct letter_head *)letter->bytes;
    head->data_bytes = ring_port_walk(ring, letter, slot, letter_code(letter), code_bytes, USE_PACK);
    clear_cover(ring, slot);
    post_send(ring, letter, (int)(block % ring->plan.nodes), block, KIND_DATA); /* before: a failure must be seen */
    ring_turn(ring, slot, block);
    return true;
}

/* Data of another node for a block of this one: marked as if a rank of this node had brought them. */
static void take_data(struct ring *ring, struct letter *letter, struct ring_slot *slot)
{
    const struct letter_head *head = (const struct letter_head *)letter->bytes;
    struct coverage_reader reader;
    int64_t begin, length;
    uint64_t fingerprint = 0, *coverage = ring_coverage(ring, slot);
    const int64_t at = letter->block * ring->plan.block_bytes;
    if (!is_right(ring, letter) ||
        ring_port_walk(ring, letter, slot, letter_code(letter), (size_t)head->code_bytes, USE_COUNT) > head->data_bytes)
        return;
    ring_port_walk(ring, letter, slot, letter_code(letter), (size_t)head->code_bytes, USE_UNPACK);
    coverage_reader_init(&reader, letter_code(letter), (size_t)head->code_bytes, ring->plan.block_bytes);
    while (coverage_reader_next(&reader, &begin, &length)) {
        if (ring->plan.map)
            coverage_add_shared(coverage, begin, length);
        else
            fingerprint += ring_fingerprint_piece(at + begin, length);
    }
    atomic_fetch_add_explicit(&slot->fingerprint, fingerprint, memory_order_relaxed);
}

/* ---- reading ---- */

static void ring_port_ready(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    atomic_store(&slot->tag, ring_tag(block, RING_READY));
    wait_bell_ring(&ring->shared->bell);
}

/* What this node wants of another one's block. Where it turns out to be nothing, nobody answers. */
static bool send_ask(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    assert(ring_role(ring, block) == ROLE_OTHER);
    struct ring_port *port = ring->port;
    int i = 0;
    while (i < LETTERS && (port->ask[i].state != LETTER_FREE || port->reply[i].state != LETTER_FREE))
        i++;
    if (i == LETTERS || !ring_claim(slot, block))
        return false;
    struct letter *ask = &port->ask[i];
    const int node = (int)(block % ring->plan.nodes);
    const size_t code_bytes = coverage_encode(ring_coverage(ring, slot), ring->plan.block_bytes, letter_code(ask));
    ring_port_write_head(ring, ask, block, code_bytes);
    if (ring_port_walk(ring, ask, slot, letter_code(ask), code_bytes, USE_COUNT) > 0)
        post_receive(ring, &port->reply[i], node, block, KIND_REPLY);
    else
        ring_port_ready(ring, slot, block);
    post_send(ring, ask, node, block, KIND_ASK);
    return true;
}

static void take_reply(struct ring *ring, struct letter *reply, const struct letter *ask)
{
    assert(reply->state != LETTER_FREE && ask->state != LETTER_FREE);
    struct ring_slot *slot = ring_slot_of(ring, reply->block);
    const struct letter_head *asked = (const struct letter_head *)ask->bytes;
    const struct letter_head *head = (const struct letter_head *)reply->bytes;
    slot->valid = 0;
    if (is_right(ring, reply) &&
        ring_port_walk(ring, reply, slot, letter_code(ask), (size_t)asked->code_bytes, USE_COUNT) <= head->data_bytes) {
        ring_port_walk(ring, reply, slot, letter_code(ask), (size_t)asked->code_bytes, USE_UNPACK);
        slot->valid = head->valid;
    }
    clear_cover(ring, slot);
    reply->state = LETTER_FREE;
    ring_port_ready(ring, slot, reply->block);
}

/* Answers a question, where the block is there and a letter free. A broken one gets an empty answer. */
static bool ring_port_answer(struct ring *ring, struct letter *question, struct ring_slot *slot)
{
    struct letter *letter = find_free(ring->port->out);
    const struct letter_head *asked = (const struct letter_head *)question->bytes;
    const bool right = is_right(ring, question);
    if (right && ring_port_walk(ring, question, slot, letter_code(question), (size_t)asked->code_bytes, USE_COUNT) == 0)
        return true;
    if (!letter || atomic_load(&slot->tag) != ring_tag(question->block, RING_READY))
        return false;
    ring_port_write_head(ring, letter, question->block, 1);
    struct letter_head *head = (struct letter_head *)letter->bytes;
    *letter_code(letter) = 0;
    head->valid = slot->valid;
    if (right)
        head->data_bytes = ring_port_walk(ring, letter, slot, letter_code(question), (size_t)asked->code_bytes,
                                          USE_PACK);
    post_send(ring, letter, question->node, question->block, KIND_REPLY);
    return true;
}

/* ---- the steps ---- */

static void ring_port_settle(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    assert(ring->port->left[ring_slot_index(ring, slot)] == 0);
    atomic_store(&slot->settled, block);
    wait_bell_ring(&ring->shared->bell);
}

/* Receives are posted block by block, in the order of the file: what the lowest block needs always has a letter. */
static bool ring_port_expect(struct ring *ring)
{
    struct inbox *inbox = &ring->port->inbox;
    bool moved = false;
    while (inbox->block <= ring->plan.last) {
        struct ring_slot *slot = ring_slot_of(ring, inbox->block);
        if (ring_tag_block(atomic_load(&slot->tag)) != inbox->block)
            break;
        while (inbox->next < ring->plan.nodes) {
            if (ring_port_covers(ring, inbox->next, inbox->block)) {
                struct letter *letter = find_free(ring->port->in);
                if (!letter)
                    return moved;
                post_receive(ring, letter, inbox->next, inbox->block, KIND_DATA);
            }
            inbox->next++;
            moved = true;
        }
        ring->port->left[ring_slot_index(ring, slot)] += inbox->expected;
        if (ring->port->left[ring_slot_index(ring, slot)] == 0)
            ring_port_settle(ring, slot, inbox->block);
        next_inbox(ring, inbox->block + 1);
        moved = true;
    }
    return moved;
}

static bool ring_port_receive(struct ring *ring)
{
    bool moved = false;
    for (int i = 0; i < LETTERS; i++) {
        struct letter *letter = &ring->port->in[i];
        if (letter->state == LETTER_FREE || (letter->state == LETTER_UNDER_WAY && !ring_port_is_through(ring, letter)))
            continue;
        letter->state = LETTER_ARRIVED;
        struct ring_slot *slot = ring_slot_of(ring, letter->block);
        if (ring->request->write)
            take_data(ring, letter, slot);
        else if (!ring_port_answer(ring, letter, slot))
            continue;
        letter->state = LETTER_FREE;
        moved = true;
        if (--ring->port->left[ring_slot_index(ring, slot)] == 0)
            ring_port_settle(ring, slot, letter->block);
    }
    return moved;
}

static bool finish_sends(struct ring *ring)
{
    struct ring_port *port = ring->port;
    bool moved = false;
    for (int i = 0; i < LETTERS; i++) {
        if (port->out[i].state != LETTER_FREE && ring_port_is_through(ring, &port->out[i])) {
            port->out[i].state = LETTER_FREE;
            moved = true;
        }
        if (port->reply[i].state != LETTER_FREE && ring_port_is_through(ring, &port->reply[i])) {
            take_reply(ring, &port->reply[i], &port->ask[i]);
            moved = true;
        }
        if (port->ask[i].state != LETTER_FREE && port->reply[i].state == LETTER_FREE &&
            ring_port_is_through(ring, &port->ask[i])) {
            port->ask[i].state = LETTER_FREE;
            moved = true;
        }
    }
    return moved;
}

/* The lowest block of another node that all ranks here have passed. */
static bool send_next(struct ring *ring)
{
    const bool write = ring->request->write;
    const int64_t least = write ? ring_least(ring) : ring_least_marked(ring);
    struct ring_slot *found = NULL;
    int64_t lowest = INT64_MAX;
    for (int i = 0; i < ring->plan.slots; i++) {
        struct ring_slot *slot = &ring->shared->slot[i];
        const int64_t tag = atomic_load(&slot->tag), block = ring_tag_block(tag);
        if (tag == ring_tag(block, RING_OPEN) && block < least && block <= ring->plan.last && block < lowest &&
            ring_role(ring, block) == ROLE_OTHER && ring_port_is_own(ring, block)) {
            lowest = block;
            found = slot;
        }
    }
    if (!found)
        return false;
    return write ? send_data(ring, found, lowest) : send_ask(ring, found, lowest);
}

bool ring_port_step(struct ring *ring)
{
    if (ring->plan.last < ring->plan.first)
        return false;
    bool moved = finish_sends(ring);
    moved = ring_port_expect(ring) || moved;
    moved = ring_port_receive(ring) || moved;
    return send_next(ring) || moved;
}

bool ring_port_idle(const struct ring *ring)
{
    const struct ring_port *port = ring->port;
    for (int i = 0; i < LETTERS; i++)
        if (port->in[i].state != LETTER_FREE || port->out[i].state != LETTER_FREE ||
            port->ask[i].state != LETTER_FREE || port->reply[i].state != LETTER_FREE)
            return false;
    return true;
}
