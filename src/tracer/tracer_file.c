/* What the tracer knows between calls: nesting, open files, requests, communicators. */
#include "tracer/tracer.h"

#include "mpi/real.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- files ---- */

/* The open files, by their handles. A handle may come back for a new file while another thread's close of the old one
 * has not been noted yet: the youngest is found first. */

enum { FILE_BUCKETS = 1024 };

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tracer_file *file_buckets[FILE_BUCKETS];
static int file_last_id;
/* Changes with every change of the table: until then, a thread need not look for its last file again. */
static atomic_uint file_generation = 1;

static struct tracer_file **tracer_file_bucket_of(MPI_File handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    return &file_buckets[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

struct tracer_file *tracer_file_add(MPI_File handle, int amode)
{
    struct tracer_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->handle = handle;
    file->sequential = amode & MPI_MODE_SEQUENTIAL;
    file->etype_bytes = 1;
    file->position = amode & MPI_MODE_APPEND ? -1 : 0;
    pthread_mutex_lock(&file_lock);
    file->id = ++file_last_id;
    assert(file->id > 0);
    file->next = *tracer_file_bucket_of(handle);
    *tracer_file_bucket_of(handle) = file;
    atomic_fetch_add(&file_generation, 1);
    pthread_mutex_unlock(&file_lock);
    return file;
}

/* NULL: not one of ours */
static struct tracer_file *tracer_file_find(MPI_File handle)
{
    static _Thread_local struct {
        unsigned generation;
        MPI_File handle;
        struct tracer_file *file;
    } last;
    if (last.handle == handle && last.generation == atomic_load_explicit(&file_generation, memory_order_acquire))
        return last.file;
    pthread_mutex_lock(&file_lock);
    struct tracer_file *file = *tracer_file_bucket_of(handle);
    while (file && file->handle != handle)
        file = file->next;
    last.generation = atomic_load(&file_generation);
    last.handle = handle;
    last.file = file;
    pthread_mutex_unlock(&file_lock);
    return file;
}

void tracer_file_remove(struct tracer_file *file)
{
    pthread_mutex_lock(&file_lock);
    struct tracer_file **link = tracer_file_bucket_of(file->handle);
    while (*link != file) {
        assert(*link); /* it is in the table until now */
        link = &(*link)->next;
    }
    *link = file->next;
    atomic_fetch_add(&file_generation, 1);
    pthread_mutex_unlock(&file_lock);
    free(file->name);
    free(file);
}

/* ---- the call that a thread is in ---- */

static _Thread_local bool finalizing;

void tracer_scope_finalizing(void)
{
    finalizing = true;
}

static inline void scope_prepare(struct tracer_scope *scope, struct tracer_site *site, MPI_File file)
{
    tracer_real();
    scope->fields = (struct text){0};
    scope->constant = NULL;
    scope->flush = scope->has_value = false;
    scope->logged = guard_enter() && tracer_log_is_on();
    if (!scope->logged)
        return;
    scope->site = site;
    scope->call.offset = scope->call.byte = scope->call.count = -1;
    scope->call.type_bytes = scope->call.asked = scope->call.done = -1;
    scope->call.fresh = 0;
    scope->file = tracer_file_find(file);
    scope->call.file = scope->file ? scope->file->id : 0;
    scope->logged = !finalizing || scope->file;
}

void tracer_enter(struct tracer_scope *scope, struct tracer_site *site, MPI_File file)
{
    scope_prepare(scope, site, file);
    if (scope->logged)
        scope->call.begin_ns = tracer_log_begin_ns();
}

/* Where the individual pointer stands, or -1. Asked only where it is not known by itself: ROMIO answers with a negative
 * number where the filetype has a lower bound, and looks forever for a place in a view without bytes. */
static MPI_Offset scope_pointer_of(struct tracer_file *file)
{
    MPI_Offset position = atomic_load_explicit(&file->position, memory_order_relaxed);
    if (position >= 0 || file->empty_view)
        return position;
    if (tracer_real()->File_get_position(file->handle, &position) != MPI_SUCCESS || position < 0)
        return -1;
    atomic_store_explicit(&file->position, position, memory_order_relaxed);
    return position;
}

/* Where the access begins. Nothing is asked of a handle that we did not see opened, nor where the answer is an error:
 * the program's error handler would be called for it. */
static void scope_find_place(struct tracer_scope *scope, MPI_Offset offset)
{
    struct tracer_file *file = scope->file;
    const bool has_pointer = file && !file->sequential;
    MPI_Offset byte;
    if (scope->site->place == TRACER_SHARED)
        return;
    if (scope->site->place == TRACER_INDIVIDUAL)
        offset = has_pointer ? scope_pointer_of(file) : -1;
    scope->call.offset = offset;
    if (tracer_log_is_full() && offset >= 0 && has_pointer && !file->empty_view &&
        tracer_real()->File_get_byte_offset(file->handle, offset, &byte) == MPI_SUCCESS)
        scope->call.byte = byte;
}

/* ---- memory that the program touches for the first time ---- */

/* A page that was never touched costs a fault inside of the call: a good part of its time. The kernel tells which pages
 * are there. It is asked for every large access, since programs free and take memory anew; for small ones only where a
 * page was not seen before, and seldom where none was ever new. */

enum { FRESH_PAGE = 4096, FRESH_PAGES = 512, FRESH_LARGE = 64 << 10, FRESH_SEEN = 1024, FRESH_PATIENCE = 256 };

static _Atomic uintptr_t fresh_seen[FRESH_SEEN]; /* pages that are there, by their number */
static _Atomic unsigned fresh_in_vain;           /* questions in a row that found nothing new */

/* Pages from `begin` to `end` that are not there yet. */
static int64_t fresh_ask(uintptr_t begin, uintptr_t end)
{
    unsigned char present[FRESH_PAGES];
    int64_t missing = 0;
    for (uintptr_t at = begin; at < end;) {
        const uintptr_t most = (uintptr_t)FRESH_PAGES * FRESH_PAGE, bytes = end - at < most ? end - at : most;
        if (mincore((void *)at, bytes, present) != 0) /* NOLINT(performance-no-int-to-ptr): an address of the program */
            return 0;                                 /* no memory, or not of this kind */
        for (uintptr_t i = 0; i < bytes / FRESH_PAGE; i++)
            missing += !(present[i] & 1);
        at += bytes;
    }
    return missing;
}

/* Nothing is stored where all is known: most calls use the same few buffers again. */
static inline bool fresh_is_seen(uintptr_t begin, uintptr_t end)
{
    for (uintptr_t page = begin / FRESH_PAGE; page < end / FRESH_PAGE; page++)
        if (atomic_load_explicit(&fresh_seen[page % FRESH_SEEN], memory_order_relaxed) != page)
            return false;
    return true;
}

static void fresh_see(uintptr_t begin, uintptr_t end)
{
    for (uintptr_t page = begin / FRESH_PAGE; page < end / FRESH_PAGE; page++)
        atomic_store_explicit(&fresh_seen[page % FRESH_SEEN], page, memory_order_relaxed);
}

/* The pages of a buffer of `bytes` that are not there yet. */
static struct tracer_fresh fresh_look(const void *buffer, int64_t bytes)
{
    const uintptr_t first = (uintptr_t)buffer, begin = first / FRESH_PAGE * FRESH_PAGE;
    if (!buffer || bytes <= 0 || first > UINTPTR_MAX - (uintptr_t)bytes - FRESH_PAGE)
        return (struct tracer_fresh){0};
    const uintptr_t end = (first + (uintptr_t)bytes + FRESH_PAGE - 1) / FRESH_PAGE * FRESH_PAGE;
    if (bytes < FRESH_LARGE) {
        if (fresh_is_seen(begin, end))
            return (struct tracer_fresh){0};
        fresh_see(begin, end);
        const unsigned vain = atomic_load_explicit(&fresh_in_vain, memory_order_relaxed);
        if (vain > FRESH_PATIENCE && vain % 16 != 0) {
            atomic_store_explicit(&fresh_in_vain, vain + 1, memory_order_relaxed);
            return (struct tracer_fresh){0};
        }
    }
    const int64_t missing = fresh_ask(begin, end);
    if (missing > 0)
        atomic_store_explicit(&fresh_in_vain, 0, memory_order_relaxed);
    else if (bytes < FRESH_LARGE)
        atomic_fetch_add_explicit(&fresh_in_vain, 1, memory_order_relaxed);
    return (struct tracer_fresh){.begin = begin, .end = end, .bytes = bytes, .missing = missing};
}

/* What a call that has ended left untouched lies in holes of its datatype, as ghost cells do, or behind the end of the
 * file: it costs nothing, and would be counted by every further call. */
double tracer_fresh_share(const struct tracer_scope *scope)
{
    const struct tracer_fresh *fresh = &scope->fresh;
    if (fresh->missing == 0)
        return 0;
    const int64_t left = scope->site->blocks ? fresh_ask(fresh->begin, fresh->end) : 0;
    const int64_t touched = left < fresh->missing ? fresh->missing - left : 0;
    return (double)touched * FRESH_PAGE / (double)fresh->bytes; /* of a small access more than 1: a page for others */
}

void tracer_enter_access(struct tracer_scope *scope, struct tracer_site *site, MPI_File file, MPI_Offset offset,
                         const void *buffer, MPI_Count count, MPI_Datatype type)
{
    scope_prepare(scope, site, file);
    if (!scope->logged)
        return;
    scope->call.count = count;
    scope_find_place(scope, offset);
    /* The size of an element is asked for behind the call, when the datatype is known to be one: of one that the last
     * access did not have, the beginning of the buffer tells. */
    const bool known = type == atomic_load_explicit(&site->element, memory_order_relaxed);
    const int64_t bytes = known ? atomic_load_explicit(&site->element_bytes, memory_order_relaxed) : 1;
    scope->fresh = fresh_look(buffer, count < INT64_MAX / (1 << 20) ? count * bytes : 0);
    scope->call.begin_ns = tracer_log_begin_ns();
}

int tracer_leave(struct tracer_scope *scope)
{
    if (scope->logged) {
        int class;
        if (scope->call.code != MPI_SUCCESS && real.Error_class(scope->call.code, &class) == MPI_SUCCESS)
            tracer_note_int(scope, "error_class", class);
        tracer_log_call(scope->site, &scope->call, scope->fields.data, scope->constant);
        if (scope->flush)
            tracer_log_flush();
        if (scope->fields.data)
            text_clear(&scope->fields);
    }
    guard_leave();
    return scope->call.code;
}

int64_t tracer_enter_comm(void)
{
    tracer_real();
    return guard_enter() && tracer_log_is_on() && !finalizing ? tracer_log_begin_ns() : -1;
}

void tracer_leave_comm(int64_t begin_ns, bool is_of_world)
{
    if (begin_ns >= 0)
        tracer_log_comm(begin_ns, is_of_world);
    guard_leave();
}

/* ---- requests ---- */

/* Requests of reads and writes, until they are completed. An MPI may use one handle for several that are complete
 * already: each is found once. */

enum { REQUEST_BUCKETS = 256 };

struct request_entry {
    struct tracer_request request;
    struct request_entry *next;
};

static pthread_mutex_t request_lock = PTHREAD_MUTEX_INITIALIZER;
static struct request_entry *request_buckets[REQUEST_BUCKETS], *request_unused;
static atomic_int request_count;

static struct request_entry **tracer_request_bucket_of(MPI_Request handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    return &request_buckets[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

bool tracer_request_any(void)
{
    return atomic_load_explicit(&request_count, memory_order_relaxed) > 0;
}

void tracer_request_add(MPI_Request handle, struct tracer_site *site, int file)
{
    pthread_mutex_lock(&request_lock);
    struct request_entry *entry = request_unused;
    if (entry)
        request_unused = entry->next;
    else
        entry = malloc(sizeof *entry); /* without memory, its completion is not told */
    if (entry) {
        *entry = (struct request_entry){.request = {handle, site, file}, .next = *tracer_request_bucket_of(handle)};
        *tracer_request_bucket_of(handle) = entry;
        atomic_fetch_add(&request_count, 1);
    }
    pthread_mutex_unlock(&request_lock);
}

bool tracer_request_take(MPI_Request handle, struct tracer_request *ret_request)
{
    pthread_mutex_lock(&request_lock);
    struct request_entry **link = tracer_request_bucket_of(handle);
    while (*link && (*link)->request.handle != handle)
        link = &(*link)->next;
    struct request_entry *found = *link;
    if (found) {
        *ret_request = found->request;
        *link = found->next;
        found->next = request_unused;
        request_unused = found;
        const int before = atomic_fetch_sub(&request_count, 1);
        assert(before > 0);
        (void)before;
    }
    pthread_mutex_unlock(&request_lock);
    return found;
}

/* ---- ranks of a file ---- */

/* Who opened a file together. Nobody is asked: a communicator's ranks are known to each of them, and the n-th open of
 * the same ranks is the n-th on all of them. */

static pthread_mutex_t opens_lock = PTHREAD_MUTEX_INITIALIZER;
static struct opens {
    uint64_t members; /* a hash of them */
    int64_t count;
} * opens;
static size_t opens_count;

/* How often these ranks have opened a file before; -1: no memory. */
static int64_t members_count_open(uint64_t members)
{
    int64_t count = -1;
    pthread_mutex_lock(&opens_lock);
    size_t i = 0;
    while (i < opens_count && opens[i].members != members)
        i++;
    if (i == opens_count) {
        struct opens *grown = realloc(opens, (i + 1) * sizeof *grown);
        if (grown) {
            opens = grown;
            opens[opens_count++] = (struct opens){members, 0};
        }
    }
    if (i < opens_count)
        assert(opens[i].count >= 0);
    count = opens[i].count++;
    pthread_mutex_unlock(&opens_lock);
    return count;
}

/* After a failure, whether it was one of the file: then the communicator was a good one on all ranks. */
static bool members_comm_was_taken(int code)
{
    int class;
    if (code == MPI_SUCCESS)
        return true;
    if (real.Error_class(code, &class) != MPI_SUCCESS)
        return false;
    return class == MPI_ERR_NO_SUCH_FILE || class == MPI_ERR_FILE_EXISTS || class == MPI_ERR_BAD_FILE ||
           class == MPI_ERR_ACCESS || class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA ||
           class == MPI_ERR_READ_ONLY || class == MPI_ERR_FILE_IN_USE || class == MPI_ERR_IO || class == MPI_ERR_AMODE;
}

/* Its ranks in MPI_COMM_WORLD; NULL: no memory, or not to be found out. The caller frees it. */
static int *members_of(MPI_Comm comm, int *ret_count)
{
    MPI_Group group, world;
    int *own = NULL, *members = NULL;
    if (real.Comm_group(comm, &group) != MPI_SUCCESS)
        return NULL;
    if (real.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        if (tracer_real()->Group_size(group, ret_count) == MPI_SUCCESS && *ret_count > 0) {
            own = malloc((size_t)*ret_count * sizeof *own);
            members = malloc((size_t)*ret_count * sizeof *members);
        }
        for (int i = 0; own && i < *ret_count; i++)
            own[i] = i;
        if (!own || !members ||
            tracer_real()->Group_translate_ranks(group, *ret_count, own, world, members) != MPI_SUCCESS) {
            free(members);
            members = NULL;
        }
        tracer_real()->Group_free(&world);
    }
    tracer_real()->Group_free(&group);
    free(own);
    return members;
}

static int members_stride_of(const int *members, int count)
{
    assert(count > 0);
    const int stride = count > 1 ? members[1] - members[0] : 1;
    for (int i = 2; i < count; i++)
        if (members[i] - members[i - 1] != stride)
            return 0;
    return stride;
}

static void members_note_list(struct tracer_scope *scope, const int *members, int count)
{
    struct text list = {0};
    for (int i = 0; i < count; i++)
        text_format(&list, i ? " %d" : "%d", members[i]);
    tracer_note_text(scope, "members", list.data);
    text_clear(&list);
}

void tracer_note_members(struct tracer_scope *scope, MPI_Comm comm)
{
    int count;
    int *members = members_comm_was_taken(scope->call.code) ? members_of(comm, &count) : NULL;
    if (!members)
        return;
    const uint64_t hash = XXH64(members, (size_t)count * sizeof *members, 0);
    const uint64_t key[] = {hash, (uint64_t)members_count_open(hash)};
    if (scope->call.code == MPI_SUCCESS) {
        const int stride = members_stride_of(members, count);
        tracer_note_int(scope, "first_rank", members[0]);
        tracer_note_int(scope, "world_stride", stride);
        if (stride == 0)
            members_note_list(scope, members, count);
        tracer_note_int(scope, "world_sequence", (int64_t)(XXH64(key, sizeof key, 0) >> 1));
    }
    free(members);
}
