#include "lab/facts/environment.h"

#include "base/clock.h"
#include "lab/facts/mount.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- clock ---- */

void environment_clock(struct environment_clock *ret_clock)
{
    enum { READINGS = 20000, READINGS_MAX = 50000000 };
    double smallest = 0;
    const double begin = MPI_Wtime();
    double last = begin;
    int readings = 0;
    for (; readings < READINGS || (smallest == 0 && readings < READINGS_MAX); readings++) {
        const double now = MPI_Wtime();
        if (now > last && (smallest == 0 || now - last < smallest))
            smallest = now - last;
        last = now;
    }
    *ret_clock = (struct environment_clock){
        .wtick_s = MPI_Wtick(), .step_s = smallest, .cost_s = (last - begin) / readings};
}

pl_status environment_clock_check(const struct environment_clock *clock, struct pl_error *error)
{
    const double coarse = clock->wtick_s > clock->step_s ? clock->wtick_s : clock->step_s;
    if (coarse <= ENVIRONMENT_CLOCK_LIMIT_S)
        return PL_OK;
    return pl_fail(error, PL_E_CLOCK, "MPI_Wtime has a resolution of %g s; allowed: %g s or finer", coarse,
                   ENVIRONMENT_CLOCK_LIMIT_S);
}

/* ---- file system ---- */

static void directory_of(const char *path, char *out, size_t capacity)
{
    struct stat info;
    snprintf(out, capacity, "%s", path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return;
    char *slash = strrchr(out, '/');
    if (!slash)
        snprintf(out, capacity, ".");
    else if (slash == out)
        out[1] = '\0';
    else
        *slash = '\0';
}

static void find_mount(const char *directory, struct environment_filesystem *fs)
{
    struct mount mount;
    if (!mount_find("/proc/self/mountinfo", directory, &mount))
        return;
    snprintf(fs->type, sizeof fs->type, "%s", mount.type);
    snprintf(fs->source, sizeof fs->source, "%.*s", (int)sizeof fs->source - 1, mount.source);
}

/* In a change-root or a container the mount may not be listed; the kernel still tells the kind of file system. */
static void name_by_magic(const char *directory, struct environment_filesystem *fs)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } kinds[] = {
        {0xef53, "ext4"},        {0x58465342, "xfs"},    {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"},
        {0x6969, "nfs"},         {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},  {0x19830326, "beegfs"},
        {0x794c7630, "overlay"}, {0x65735546, "fuse"},   {0x2fc12fc1, "zfs"},   {0xff534d42, "cifs"},
    };
    struct statfs info;
    if (statfs(directory, &info) != 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((unsigned long)info.f_type == kinds[i].magic)
            snprintf(fs->type, sizeof fs->type, "%s", kinds[i].name);
}

/* The file that a chain of links leads to; it is not there yet. */
static void follow_links(char path[PATH_MAX])
{
    enum { LINKS_MAX = 40 };
    for (int i = 0; i < LINKS_MAX; i++) {
        char target[PATH_MAX], directory[PATH_MAX];
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0)
            return;
        target[length] = '\0';
        directory_of(path, directory, sizeof directory);
        const size_t before = target[0] == '/' ? 0 : strlen(directory) + 1;
        if (before + (size_t)length >= PATH_MAX)
            return;
        if (before)
            snprintf(path, PATH_MAX, "%.*s/", (int)before - 1, directory);
        memcpy(path + before, target, (size_t)length + 1);
    }
}

pl_status environment_filesystem(const char *path, struct environment_filesystem *ret_fs, struct pl_error *error)
{
    *ret_fs = (struct environment_filesystem){.type = "unknown", .source = "unknown"};
    char file[PATH_MAX], directory[PATH_MAX], real[PATH_MAX];
    if (!realpath(path, file)) {
        snprintf(file, sizeof file, "%s", path);
        follow_links(file);
    }
    directory_of(file, directory, sizeof directory);
    if (!realpath(directory, real))
        return pl_fail_errno(error, errno, "looking at directory '%s'", directory);
    snprintf(ret_fs->directory, sizeof ret_fs->directory, "%s", real);
    struct statvfs space;
    struct stat info;
    if (statvfs(real, &space) != 0 || stat(real, &info) != 0)
        return pl_fail_errno(error, errno, "looking at directory '%s'", real);
    ret_fs->block_bytes = info.st_blksize;
    ret_fs->total_bytes = (int64_t)space.f_blocks * (int64_t)space.f_frsize;
    ret_fs->free_bytes = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
    find_mount(real, ret_fs);
    if (strcmp(ret_fs->type, "unknown") == 0)
        name_by_magic(real, ret_fs);
    return PL_OK;
}

/* ---- MPI ---- */

static bool has_romio_keys(MPI_Info info)
{
    int count = 0;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(info, i, key);
        if (strncmp(key, "romio_", 6) == 0)
            return true;
    }
    return false;
}

/* A function of the MPI library itself: what is asked here is no part of a traced program, and no tracer sees a file
 * that the program did not open. The function by that name where the library cannot be found. */
static void *environment_of_library(const char *name)
{
    Dl_info where;
    void *known = dlsym(RTLD_DEFAULT, "MPI_Wtick"), *function = NULL; /* nobody has a reason to wrap that one */
    void *library = known && dladdr(known, &where) ? dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (library) {
        function = dlsym(library, name);
        dlclose(library); /* it stays, as the program is linked to it */
    }
    return function ? function : dlsym(RTLD_DEFAULT, name);
}

bool environment_has_engine(void)
{
    return dlsym(RTLD_DEFAULT, "piolet_mpiio_version") != NULL;
}

/* ---- whose MPI-IO Open MPI has ---- */

struct environment_components {
    struct text names; /* of the io framework: "romio321,ompio" */
    bool has_ompio;
    bool has_fs; /* what OMPIO opens a file with; loaded at its first open, and by nobody else */
};

static int environment_note_component(struct dl_phdr_info *object, size_t size, void *context)
{
    static const char io[] = "/mca_io_", fs[] = "/mca_fs_";
    struct environment_components *seen = context;
    const char *name = strstr(object->dlpi_name, io);
    (void)size;
    seen->has_fs |= strstr(object->dlpi_name, fs) != NULL;
    if (!name)
        return 0;
    name += sizeof io - 1;
    seen->has_ompio |= strncmp(name, "ompio.", strlen("ompio.")) == 0;
    text_format(&seen->names, "%s%.*s", seen->names.length ? "," : "", (int)strcspn(name, "."), name);
    return 0;
}

void environment_io_components(struct text *ret_names)
{
    struct environment_components seen = {0};
    dl_iterate_phdr(environment_note_component, &seen);
    *ret_names = seen.names;
}

/* Open MPI's info does not tell whose MPI-IO serves a file: the components that it has loaded by now do. Where they are
 * part of its library (the default from release 5 on) there is nothing to see, and what was asked for counts. */
static bool environment_file_is_ompio(MPI_Info info)
{
    struct environment_components seen = {0};
    dl_iterate_phdr(environment_note_component, &seen);
    const bool are_seen = seen.names.length > 0;
    text_clear(&seen.names);
    if (are_seen)
        return seen.has_ompio && seen.has_fs;
    const char *asked = getenv("OMPI_MCA_io");
    const bool is_excluded = asked && *asked && (asked[0] == '^') == (strstr(asked, "ompio") != NULL);
    return !is_excluded && !has_romio_keys(info);
}

static const char *environment_ask_system(void)
{
    const char *name = "unknown";
    int (*open_file)(MPI_Comm, const char *, int, MPI_Info, MPI_File *);
    int (*get_info)(MPI_File, MPI_Info *);
    int (*close_file)(MPI_File *);
    *(void **)&open_file = environment_of_library("MPI_File_open");
    *(void **)&get_info = environment_of_library("MPI_File_get_info");
    *(void **)&close_file = environment_of_library("MPI_File_close");
    MPI_File file;
    if (open_file(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return name;
    MPI_Info info;
    if (get_info(file, &info) == MPI_SUCCESS) {
        name = environment_file_is_ompio(info) ? "OMPIO" : "ROMIO";
        MPI_Info_free(&info);
    }
    close_file(&file);
    return name;
}

const char *environment_system_mpiio(void)
{
    static const char *known = NULL; /* it stays what it is, and asking opens a file */
    if (!PIOLET_IS_OPENMPI) /* there is no other; and a file that is opened here makes the program's first open cheap */
        return "ROMIO";
    if (!known)
        known = environment_ask_system();
    return known;
}

void environment_mpiio(char ret_name[ENVIRONMENT_TEXT_MAX])
{
    const char *ours = dlsym(RTLD_DEFAULT, "piolet_mpiio_version");
    if (ours)
        snprintf(ret_name, ENVIRONMENT_TEXT_MAX, "piolet %.200s", ours);
    else
        snprintf(ret_name, ENVIRONMENT_TEXT_MAX, "%s", environment_system_mpiio());
}

bool environment_is_ompio(void)
{
    static int known = -1; /* asked beside every wait */
    if (known < 0)
        known = !environment_has_engine() && strcmp(environment_system_mpiio(), "OMPIO") == 0;
    return known;
}

void environment_mpi_library(char *text, int capacity)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(version, &length);
    const size_t line = strcspn(version, "\n");
    version[line] = '\0';
    for (char *c = version; *c; c++)
        if (*c == '\t')
            *c = ' ';
    snprintf(text, (size_t)capacity, "%s", version);
}

/* ---- host ---- */

static int64_t meminfo_bytes(const char *key)
{
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file)
        return 0;
    char line[256];
    long long kib = 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), ": %lld", &kib) == 1)
            break;
    fclose(file);
    return kib * 1024;
}

int64_t environment_memory_bytes(void)
{
    return meminfo_bytes("MemTotal");
}

int64_t environment_memory_available_bytes(void)
{
    return meminfo_bytes("MemAvailable");
}

int environment_cores(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

/* Measurements are to be made with tracing off; these libraries trace even when linked and not preloaded. */
static bool is_tracer(const char *name)
{
    static const char *const tracers[] = {"libpiolet-trace", "libdarshan",  "libscorep",   "libVT",
                                          "libmpiP",         "libmpitrace", "librecorder", "libtau"};
    for (size_t i = 0; i < sizeof tracers / sizeof tracers[0]; i++)
        if (strstr(name, tracers[i]))
            return true;
    return false;
}

static void take_mapped_tracers(const char *preloads, void (*take)(void *, const char *, bool), void *context)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return;
    char *line = NULL;
    size_t capacity = 0;
    char last[PATH_MAX] = "";
    while (getline(&line, &capacity, maps) > 0) {
        char *name = strchr(line, '/');
        if (!name)
            continue;
        name[strcspn(name, "\n")] = '\0';
        if (!is_tracer(name) || strcmp(name, last) == 0 || strstr(preloads, name))
            continue;
        take(context, name, true);
        snprintf(last, sizeof last, "%s", name);
    }
    free(line);
    fclose(maps);
}

void environment_preloads(void (*take)(void *context, const char *name, bool suspect), void *context)
{
    const char *variable = getenv("LD_PRELOAD");
    char *copy = strdup(variable ? variable : "");
    if (!copy)
        return;
    char *rest = NULL;
    for (char *name = strtok_r(copy, " :", &rest); name; name = strtok_r(NULL, " :", &rest)) {
        const bool ours = strstr(name, "libpiolet-yield") || strstr(name, "libpiolet-mpiio");
        take(context, name, !ours);
    }
    take_mapped_tracers(variable ? variable : "", take, context);
    free(copy);
}

/* ---- facts of a block ---- */

struct host_name {
    char host[64];
    char processor[MPI_MAX_PROCESSOR_NAME];
};

static void put_hosts_coll(MPI_Comm comm, struct blockfile_writer *writer)
{
    int me, size, length;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    struct host_name mine = {.host = "unknown"};
    gethostname(mine.host, sizeof mine.host - 1);
    MPI_Get_processor_name(mine.processor, &length);
    if (me != 0) {
        MPI_Send(&mine, sizeof mine, MPI_BYTE, 0, 3, comm);
        return;
    }
    for (int rank = 0; rank < size; rank++) {
        if (rank > 0)
            MPI_Recv(&mine, sizeof mine, MPI_BYTE, rank, 3, comm, MPI_STATUS_IGNORE);
        blockfile_fact(writer, "host", "%d %s %s", rank, mine.host, mine.processor);
    }
}

static void put_preload(void *context, const char *name, bool suspect)
{
    struct blockfile_writer *writer = context;
    blockfile_fact(writer, is_tracer(name) ? "tracer" : "preload", "%s", name);
    if (suspect)
        blockfile_fact(writer, "warning", "'%s' is loaded into the run and may disturb the timings", name);
}

static void put_mpi(struct blockfile_writer *writer)
{
    char text[ENVIRONMENT_TEXT_MAX];
    environment_mpi_library(text, sizeof text);
    blockfile_fact(writer, "mpi_library", "%s", text);
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    blockfile_fact(writer, "mpi_standard", "%d.%d", version, subversion);
    environment_mpiio(text);
    blockfile_fact(writer, "mpiio", "%s", text);
    struct environment_clock clock;
    environment_clock(&clock);
    blockfile_fact(writer, "wtick_ns", "%.3f", clock.wtick_s * 1e9);
    blockfile_fact(writer, "clock_step_ns", "%.1f", clock.step_s * 1e9);
    blockfile_fact(writer, "clock_cost_ns", "%.1f", clock.cost_s * 1e9);
}

static void put_local(const char *path, struct blockfile_writer *writer)
{
    char stamp[CLOCK_STAMP_MAX];
    char host[64] = "unknown";
    gethostname(host, sizeof host - 1);
    blockfile_fact(writer, "product_version", "%s", PIOLET_VERSION);
    blockfile_fact(writer, "hostname", "%s", host);
    blockfile_fact(writer, "timestamp", "%s", clock_stamp(stamp));
    put_mpi(writer);
    struct environment_filesystem fs;
    struct pl_error ignored;
    environment_filesystem(path, &fs, &ignored); /* a missing directory shows as unknown, and fails in the test */
    blockfile_fact(writer, "filesystem", "%s", fs.type);
    blockfile_fact(writer, "filesystem_source", "%s", fs.source);
    blockfile_fact(writer, "filesystem_block", "%lld", (long long)fs.block_bytes);
    blockfile_fact(writer, "memory_bytes", "%lld", (long long)environment_memory_bytes());
    blockfile_fact(writer, "cores", "%d", environment_cores());
    environment_preloads(put_preload, writer);
}

int environment_node_ranks_coll(MPI_Comm comm)
{
    MPI_Comm node;
    int ranks = 1;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        MPI_Comm_size(node, &ranks);
        MPI_Comm_free(&node);
    }
    return ranks;
}

void environment_facts_coll(MPI_Comm comm, const char *path, struct blockfile_writer *writer)
{
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    const int node_ranks = environment_node_ranks_coll(comm);
    if (me == 0) {
        blockfile_fact(writer, "nprocs", "%d", size);
        put_local(path, writer);
        if (node_ranks > environment_cores())
            blockfile_fact(writer, "warning", "%d ranks share %d cores: they wait for each other's time slices",
                           node_ranks, environment_cores());
    }
    put_hosts_coll(comm, writer);
}

/* MPI_Wait and MPI_Test call the error handler of the request's file, and OMPIO's requests have none. A poll calls no
 * handler, but it does not tell the error either: the count does. */
int environment_test_ompio(MPI_Request *request, int64_t bytes, int *ret_done, MPI_Status *status)
{
    MPI_Count moved = 0;
    *ret_done = 1;
    if (*request == MPI_REQUEST_NULL)
        return MPI_Wait(request, status);
    const int code = PMPI_Request_get_status(*request, ret_done, status);
    if (code != MPI_SUCCESS || !*ret_done)
        return code;
    MPI_Get_elements_x(status, MPI_BYTE, &moved);
    return moved == bytes ? MPI_Wait(request, status) : PMPI_Request_free(request);
}

bool environment_moved_all(MPI_Request request, int64_t bytes)
{
    MPI_Status status;
    MPI_Count moved = 0;
    int done = 0;
    while (!done)
        if (PMPI_Request_get_status(request, &done, &status) != MPI_SUCCESS)
            return false;
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    return moved == bytes;
}

int environment_wait_file(MPI_Request *request, int64_t bytes, MPI_Status *status)
{
    int code = MPI_SUCCESS;
    if (!environment_is_ompio())
        return MPI_Wait(request, status);
    for (int done = 0; !done && code == MPI_SUCCESS;)
        code = environment_test_ompio(request, bytes, &done, status);
    return code;
}

int environment_test_file(MPI_Request *request, int64_t bytes, int *ret_done, MPI_Status *status)
{
    return environment_is_ompio() ? environment_test_ompio(request, bytes, ret_done, status)
                                  : MPI_Test(request, ret_done, status);
}
