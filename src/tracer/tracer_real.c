#include "mpi/real.h"
#include "tracer/tracer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tracer_real table;

static const struct {
    const char *name;
    size_t place;
} NAMES[] = {
#define HELPER(name)                            {"PMPI_" #name, offsetof(struct tracer_real, name)},
#define ENTRY(name)                             {"PMPI_File_" #name, offsetof(struct tracer_real, File_##name)},
#define CALL(name, ...)                         ENTRY(name)
#define END(name, op, position)                 ENTRY(name)
#define ACCESS(name, family, op, position, who) ENTRY(name) TRACER_LARGE(ENTRY(name##_c))
#include "tracer/tracer_call.def"
};

static _Noreturn void refuse(const char *why)
{
    fprintf(stderr, "piolet-trace: %s\n", why);
    exit(EXIT_FAILURE);
}

static void load_once(void)
{
    struct pl_error error;
    if (real_load(&error) != PL_OK)
        refuse(error.text);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        void *function = dlsym(RTLD_NEXT, NAMES[i].name);
        if (!function) {
            pl_fail(&error, PL_E_UNSUPPORTED, "the MPI of this process has no function %s", NAMES[i].name);
            refuse(error.text);
        }
        memcpy((char *)&table + NAMES[i].place, &function, sizeof function);
    }
}

const struct tracer_real *tracer_real(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return &table;
}
