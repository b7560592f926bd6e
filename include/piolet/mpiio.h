/* What libpiolet-mpiio.so tells about itself, besides the MPI_* functions that it implements: a program that was
 * linked with it may call these; one that it may only be preloaded into looks them up with dlsym(). No MPI is needed.
 */
#ifndef PIOLET_MPIIO_H
#define PIOLET_MPIIO_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PIOLET_API
#define PIOLET_API __attribute__((visibility("default")))
#endif

/* The version; that there is such a symbol tells that our MPI-IO is in force. */
PIOLET_API extern const char piolet_mpiio_version[];

/* A hint: a key of MPI_Info that the engine understands. The texts are owned by the library and never freed. */
struct piolet_hint {
    const char *name;
    const char *default_value;
    const char *allowed; /* values, in words */
    const char *help;
    int changeable; /* by MPI_File_set_info, while the file is open */
};

/* Row `index`, from 0, of the table of hints. Returns 0, or -1 behind the last one; *ret is then left alone. */
PIOLET_API int piolet_hint_at(int index, struct piolet_hint *ret);

/* A strategy: a way of doing collective access, as the hint piolet_strategy names it. */
struct piolet_strategy {
    const char *name;
    const char *summary; /* one line */
    /* What makes it differ from the others, in words; "" where that is no part of it. */
    const char *order;    /* which ranks access which data when */
    const char *target;   /* how the file is spread over the ranks that access it for all */
    const char *agents;   /* who these ranks are */
    const char *exchange; /* how data come to them */
};

/* Row `index`, from 0, of the table of strategies; returns as piolet_hint_at(). */
PIOLET_API int piolet_strategy_at(int index, struct piolet_strategy *ret);

#ifdef __cplusplus
}
#endif
#endif
