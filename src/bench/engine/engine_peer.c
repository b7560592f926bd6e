/* Peers: who serves a file; and their results side by side. */
#include "bench/engine/engine.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/process.h"
#include "base/statistics.h"
#include "lab/facts/environment.h"

#include <assert.h>
#include <dlfcn.h>
#include <math.h>
#include <piolet/mpiio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void engine_note_number(struct text *params, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    notes_add(params, key, text);
}

double engine_slowest_coll(MPI_Comm comm, double seconds)
{
    double most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    return most;
}

/* ---- peers ---- */

const char *engine_system_name(char name[ENGINE_NAME_MAX])
{
    const char *io = getenv("OMPI_MCA_io");
    snprintf(name, ENGINE_NAME_MAX, "%s",
             strcmp(PIOLET_MPI_NAME, "openmpi") != 0            ? "romio"
             : io && strncmp(io, "romio", strlen("romio")) == 0 ? "o-romio"
                                                                : "ompio");
    return name;
}

/* OMPIO's requests that fail end the process in MPI_Wait (environment_wait_file()), and here the engine is preloaded.
 */
static bool engine_peer_is_ompio(const struct engine_peer *peer)
{
    char name[ENGINE_NAME_MAX];
    return peer->server == ENGINE_SYSTEM && strcmp(engine_system_name(name), "ompio") == 0;
}

int engine_peer_test(const struct engine_peer *peer, MPI_Request *request, int64_t bytes, int *ret_done)
{
    MPI_Status status;
    MPI_Count moved = 0;
    const bool was_there = *request != MPI_REQUEST_NULL;
    const int code = engine_peer_is_ompio(peer) ? environment_test_ompio(request, bytes, ret_done, &status)
                                                : MPI_Test(request, ret_done, &status);
    if (code != MPI_SUCCESS || !*ret_done || !was_there)
        return code;
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    return moved == bytes ? MPI_SUCCESS : MPI_ERR_IO;
}

int engine_peer_wait(const struct engine_peer *peer, MPI_Request *request, int64_t bytes)
{
    int code = MPI_SUCCESS;
    if (!engine_peer_is_ompio(peer))
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    for (int done = 0; !done && code == MPI_SUCCESS;)
        code = engine_peer_test(peer, request, bytes, &done);
    return code;
}

void engine_strategies(struct option_texts *ret_names)
{
    int (*at)(int index, struct piolet_strategy *ret) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "piolet_strategy_at");
    struct piolet_strategy strategy;
    memcpy(&at, &symbol, sizeof at);
    *ret_names = (struct option_texts){0};
    for (int i = 0; at && at(i, &strategy) == 0; i++)
        if (strcmp(strategy.name, "auto") != 0) {
            ret_names->values = memory_grow(ret_names->values, ret_names->count, sizeof *ret_names->values);
            ret_names->values[ret_names->count++] = memory_copy(strategy.name);
        }
}

static struct engine_peer *engine_peer_add(const struct lab_run *run, const char *program, struct engine_peers *peers,
                                           enum engine_server server, const char *name)
{
    assert(peers->count < ENGINE_PEERS_MAX);
    struct engine_peer *peer = &peers->list[peers->count++];
    char file[2 * ENGINE_NAME_MAX];
    *peer = (struct engine_peer){.server = server, .file = MPI_FILE_NULL};
    snprintf(peer->name, sizeof peer->name, "%s", name);
    snprintf(file, sizeof file, "piolet-%s.%d.%s", program, (int)getpid(), name);
    for (char *c = file; *c; c++)
        *c = *c == '/' ? '-' : *c;
    char *path = lab_job_path(run->job, file);
    snprintf(peer->path, sizeof peer->path, "%s", path);
    free(path);
    MPI_Bcast(peer->path, sizeof peer->path, MPI_CHAR, 0, run->world);
    if (run->rank == 0)
        interrupt_remove(peer->path);
    return peer;
}

pl_status engine_peers_make(const struct lab_run *run, const char *program, const struct option_texts *strategies,
                            bool system, bool limit, struct engine_peers *ret_peers, struct pl_error *error)
{
    char name[ENGINE_NAME_MAX];
    const size_t count = strategies ? strategies->count : 0;
    *ret_peers = (struct engine_peers){.count = 0};
    struct engine_peer *peer = engine_peer_add(run, program, ret_peers, ENGINE_PIOLET, "piolet");
    if (lab_hints_parse(&run->job->common.hints, &peer->hints, error) != PL_OK)
        return error->status;
    for (size_t i = 0; i < count; i++) {
        if (ret_peers->count + 2 >= ENGINE_PEERS_MAX)
            return pl_fail(error, PL_E_USAGE, "--strategy: more than %d", ENGINE_PEERS_MAX - 3);
        snprintf(name, sizeof name, "piolet/%.50s", strategies->values[i]);
        peer = engine_peer_add(run, program, ret_peers, ENGINE_PIOLET, name);
        if (lab_hints_parse(&run->job->common.hints, &peer->hints, error) != PL_OK)
            return error->status;
        peer->hints.list = memory_grow(peer->hints.list, peer->hints.count, sizeof *peer->hints.list);
        peer->hints.list[peer->hints.count++] = (struct lab_hint){memory_copy("piolet_strategy"),
                                                                  memory_copy(strategies->values[i])};
    }
    if (system)
        engine_peer_add(run, program, ret_peers, ENGINE_SYSTEM, engine_system_name(name));
    if (limit)
        engine_peer_add(run, program, ret_peers, ENGINE_LIMIT, "limit");
    return PL_OK;
}

void engine_peers_add_hand(const struct lab_run *run, const char *program, struct engine_peers *peers)
{
    engine_peer_add(run, program, peers, ENGINE_HAND, "by-hand");
}

void engine_peers_clear_coll(const struct lab_run *run, struct engine_peers *peers)
{
    for (int i = 0; i < peers->count; i++) {
        struct engine_peer *peer = &peers->list[i];
        if (peer->file != MPI_FILE_NULL)
            MPI_File_close(&peer->file);
        lab_hints_clear(&peer->hints);
        if (run->rank == 0) {
            unlink(peer->path);
            interrupt_keep(peer->path);
        }
    }
    peers->count = 0;
}

void engine_peer_info(MPI_File file, const char *key, char *ret_value, int room)
{
    int found = 0;
    MPI_Info info;
    ret_value[0] = '\0';
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return;
    MPI_Info_get(info, key, room - 1, ret_value, &found);
    MPI_Info_free(&info);
    if (!found)
        ret_value[0] = '\0';
}

static pl_status engine_peer_check(const struct engine_peer *peer, struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    engine_peer_info(peer->file, "piolet_impl", value, sizeof value);
    if ((strcmp(value, "piolet") == 0) != (peer->server == ENGINE_PIOLET))
        return pl_fail(error, PL_E_UNSUPPORTED, "another MPI-IO serves the file than %s: is the engine preloaded?",
                       peer->name);
    for (size_t i = 0; i < peer->hints.count; i++) {
        const struct lab_hint *hint = &peer->hints.list[i];
        snprintf(key, sizeof key, "origin:%s", hint->key);
        engine_peer_info(peer->file, key, value, sizeof value);
        if (strcmp(value, "info") != 0)
            return pl_fail(error, PL_E_UNSUPPORTED, "the engine does not take the hint %s=%s: %s", hint->key,
                           hint->value, *value ? value : "unknown");
    }
    return PL_OK;
}

pl_status engine_peer_open_coll(MPI_Comm comm, struct engine_peer *peer, struct pl_error *error)
{
    struct coll_verdict verdict;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_impl", peer->server == ENGINE_PIOLET ? "piolet" : "system");
    for (size_t i = 0; i < peer->hints.count; i++)
        MPI_Info_set(info, peer->hints.list[i].key, peer->hints.list[i].value);
    const int code = MPI_File_open(comm, peer->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &peer->file);
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS)
        peer->file = MPI_FILE_NULL;
    const pl_status mine = code == MPI_SUCCESS ? engine_peer_check(peer, error)
                                               : coll_fail_mpi(error, code, "opening '%s'", peer->path);
    const pl_status status = coll_agree_coll(comm, mine, error, &verdict);
    if (status != PL_OK && peer->file != MPI_FILE_NULL)
        MPI_File_close(&peer->file);
    return status;
}

/* ---- results ---- */

const struct engine_value *engine_values_find(const struct engine_values *values, const struct blockfile_block *block,
                                              const char *what, const char *peer)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->list[i].block == block && strcmp(values->list[i].what, what) == 0 &&
            strcmp(values->list[i].peer, peer) == 0)
            return &values->list[i];
    return NULL;
}

void engine_values_add(struct engine_values *values, const struct blockfile_block *block, const char *what,
                       const char *peer, double value, const char *note)
{
    struct engine_value *found = (struct engine_value *)engine_values_find(values, block, what, peer);
    if (!found) {
        values->list = memory_grow(values->list, values->count, sizeof *values->list);
        found = &values->list[values->count++];
        found->block = block;
        snprintf(found->what, sizeof found->what, "%s", what);
        snprintf(found->peer, sizeof found->peer, "%s", peer);
    }
    found->values = memory_grow(found->values, (size_t)found->count, sizeof *found->values);
    found->values[found->count++] = value;
    snprintf(found->note, sizeof found->note, "%s", note ? note : "");
}

void engine_values_clear(struct engine_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->list[i].values);
    free(values->list);
    *values = (struct engine_values){0};
}

/* The median, and the error of the mean. */
static struct analysis_estimate engine_estimate(const double *values, int count)
{
    struct analysis_estimate estimate = analysis_mean(values, (size_t)count);
    double *sorted = memory_new((size_t)count, sizeof *sorted);
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    statistics_sort(sorted, (size_t)count);
    estimate.value = statistics_median(sorted, (size_t)count, sizeof *sorted);
    free(sorted);
    return estimate;
}

struct analysis_estimate engine_value_mean(const struct engine_value *value)
{
    return engine_estimate(value->values, value->count);
}

static struct analysis_estimate engine_value_compare(const struct engine_value *a, const struct engine_value *b,
                                                     bool divide)
{
    if (!a || !b)
        return (struct analysis_estimate){NAN, NAN};
    const int count = a->count < b->count ? a->count : b->count;
    assert(count > 0);
    double *values = memory_new((size_t)count, sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = divide ? a->values[i] / b->values[i] : a->values[i] - b->values[i];
    const struct analysis_estimate estimate = engine_estimate(values, count);
    free(values);
    return estimate;
}

const struct quantity_kind ENGINE_TIME = {"time of the engine", "x",
                                          "time of the engine / time of the peer, repetition by repetition", true};

struct analysis_estimate engine_value_ratio(const struct engine_value *a, const struct engine_value *b)
{
    return engine_value_compare(a, b, true);
}

struct analysis_estimate engine_value_difference(const struct engine_value *a, const struct engine_value *b)
{
    return engine_value_compare(a, b, false);
}

/* ---- processes ---- */

/* A file of ours: …/bin/piolet and …/lib/NAME. */
bool engine_find(const char *name, char path[PATH_MAX + 64])
{
    static const char *const folders[] = {PIOLET_LIBDIR, "lib"};
    char tree[PATH_MAX];
    bool found = process_self(tree);
    for (int i = 0; i < 2 && found; i++) {
        char *slash = strrchr(tree, '/');
        found = slash != NULL;
        if (slash)
            *slash = '\0';
    }
    for (size_t i = 0; i < 2 && found; i++) {
        snprintf(path, PATH_MAX + 64, "%s/%s/%s", tree, folders[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* The environment as it was when this process began: MPI has put its own into it since, which would make the new
 * process a part of this job. */
char **engine_environment(void)
{
    size_t room = 1 << 20, length = 0, count = 0;
    char *bytes = memory_new(room, 1);
    FILE *file = fopen("/proc/self/environ", "r");
    if (file) {
        length = fread(bytes, 1, room - 1, file);
        fclose(file);
    }
    char **list = memory_new(length + 1, sizeof *list);
    for (size_t at = 0; at < length; at += strlen(bytes + at) + 1)
        list[count++] = bytes + at;
    return list; /* of a process that becomes another */
}
