#include "mpi/real.h"

#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

struct real real;
_Thread_local int guard_depth;

static const struct real_entry NAMES[] = {
#define REAL(name) {"PMPI_" #name, offsetof(struct real, name)},
#include "mpi/real.def"
#undef REAL
};

/* The other MPI, by a library that only it brings: a program linked with it cannot use this one's handles. */
#if PIOLET_IS_OPENMPI
#define FOREIGN_LIBRARY "libmpich.so"
#define FOREIGN_NAME    "MPICH"
#define OWN_NAME        "Open MPI"
#else
#define FOREIGN_LIBRARY "libopen-pal.so"
#define FOREIGN_NAME    "Open MPI"
#define OWN_NAME        "MPICH"
#endif

/* ---- an MPI that only the library that brought it may see ---- */

enum { LIBRARIES = 8, NAME_BYTES = 1024 };
static struct {
    char names[LIBRARIES][NAME_BYTES];
    int count;
} loaded;

static int real_note_mpi(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const char *slash = strrchr(object->dlpi_name, '/'), *name = slash ? slash + 1 : object->dlpi_name;
    if (strncmp(name, "libmpi", 6) == 0 && strlen(object->dlpi_name) < NAME_BYTES && loaded.count < LIBRARIES)
        strcpy(loaded.names[loaded.count++], object->dlpi_name);
    return 0;
}

/* Python and the like load the MPI with a module of theirs, apart from the libraries that follow a preloaded one. */
static void *find_apart(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *found = NULL;
    pthread_mutex_lock(&lock);
    loaded.count = 0;
    dl_iterate_phdr(real_note_mpi, NULL);
    for (int i = 0; i < loaded.count && !found; i++) {
        void *library = dlopen(loaded.names[i], RTLD_LAZY | RTLD_NOLOAD); /* kept: it must not go away any more */
        found = library ? dlsym(library, name) : NULL;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void *real_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : find_apart(name);
}

static int note_foreign(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    const char *slash = strrchr(object->dlpi_name, '/');
    if (strncmp(slash ? slash + 1 : object->dlpi_name, FOREIGN_LIBRARY, sizeof FOREIGN_LIBRARY - 1) == 0)
        *(bool *)found = true;
    return 0;
}

pl_status real_fill(void *table, const struct real_entry *entries, size_t count, struct pl_error *error)
{
    assert(table && entries && count > 0);
    for (size_t i = 0; i < count; i++) {
        void *function = real_find(entries[i].name);
        if (!function)
            return pl_fail(error, PL_E_UNSUPPORTED, "the MPI of this process has no function %s", entries[i].name);
        memcpy((char *)table + entries[i].place, &function, sizeof function);
    }
    return PL_OK;
}

static struct pl_error load_error;

static void real_load_once(void)
{
    bool foreign = false;
    dl_iterate_phdr(note_foreign, &foreign);
    if (foreign) {
        pl_fail(&load_error, PL_E_USAGE,
                "this program uses " FOREIGN_NAME ", but the preloaded library of piolet was built for " OWN_NAME
                "; preload the one of the other build tree ('piolet preload' finds it)");
        return;
    }
    if (real_fill(&real, NAMES, sizeof NAMES / sizeof NAMES[0], &load_error) == PL_OK)
        real.loaded = true;
}

pl_status real_load(struct pl_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, real_load_once);
    if (!real.loaded)
        *error = load_error;
    return real.loaded ? PL_OK : error->status;
}
