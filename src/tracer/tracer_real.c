#include "mpi/real.h"
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct tracer_real table;

static const struct real_entry NAMES[] = {
#define HELPER(name)                            {"PMPI_" #name, offsetof(struct tracer_real, name)},
#define ENTRY(name)                             {"PMPI_File_" #name, offsetof(struct tracer_real, File_##name)},
#define CALL(name, ...)                         ENTRY(name)
#define END(name, op, position)                 ENTRY(name)
#define ACCESS(name, family, op, position, who) ENTRY(name) TRACER_LARGE(ENTRY(name##_c))
#include "tracer/tracer_call.def"
#define WAIT(name) HELPER(name)
#include "tracer/tracer_wait.def"
};

static void load_once(void)
{
    struct pl_error error;
    if (real_load(&error) == PL_OK && real_fill(&table, NAMES, sizeof NAMES / sizeof NAMES[0], &error) == PL_OK &&
        tracer_comm_load(&error) == PL_OK)
        return;
    fprintf(stderr, "piolet-trace: %s\n", error.text);
    exit(EXIT_FAILURE);
}

const struct tracer_real *tracer_real(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return &table;
}
