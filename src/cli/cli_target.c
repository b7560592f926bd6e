#include "cli/cli_target.h"

#include "base/interrupt.h"
#include "base/process.h"
#include "cli/cli_elf.h"
#include "cli/cli_launch.h"
#include "mpi/job.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWITCH_MARK "PIOLET_SWITCHED"

#if PIOLET_IS_OPENMPI
static const enum cli_elf_mpi OTHER = CLI_ELF_MPICH;
static const char OWN_NAME[] = "Open MPI", OTHER_NAME[] = "MPICH", OTHER_FOLDER[] = "mpich";
static const char OWN_SIZE[] = "OMPI_COMM_WORLD_SIZE", OTHER_SIZE[] = "PMI_SIZE";
#else
static const enum cli_elf_mpi OTHER = CLI_ELF_OPENMPI;
static const char OWN_NAME[] = "MPICH", OTHER_NAME[] = "Open MPI", OTHER_FOLDER[] = "openmpi";
static const char OWN_SIZE[] = "PMI_SIZE", OTHER_SIZE[] = "OMPI_COMM_WORLD_SIZE";
#endif

/* ---- where we are ---- */

/* The build tree or installation: TREE/bin/piolet is this program. */
static bool find_tree(char ret_tree[PATH_MAX])
{
    if (!process_self(ret_tree))
        return false;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(ret_tree, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return true;
}

/* ---- the program ---- */

/* 0, or why `path` cannot be executed. */
static int why_not(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

static int search_path(const char *program, char ret_path[PATH_MAX])
{
    const char *folder = getenv("PATH");
    int worst = ENOENT;
    for (folder = folder ? folder : "/usr/local/bin:/usr/bin:/bin"; folder;) {
        const char *end = strchrnul(folder, ':');
        const int length = (int)(end - folder);
        const int written = snprintf(ret_path, PATH_MAX, "%.*s%s%s", length, folder, length ? "/" : "./", program);
        const int why = written < PATH_MAX ? why_not(ret_path) : ENOENT;
        if (why == 0)
            return 0;
        if (why == EACCES)
            worst = EACCES;
        folder = *end ? end + 1 : NULL;
    }
    return worst;
}

int cli_target_find(const struct cli_verb *verb, const char *program, char ret_path[PATH_MAX])
{
    int why = ENAMETOOLONG;
    if (!*program)
        why = ENOENT;
    else if (!strchr(program, '/'))
        why = search_path(program, ret_path);
    else if (snprintf(ret_path, PATH_MAX, "%s", program) < PATH_MAX)
        why = why_not(ret_path);
    if (why == 0)
        return 0;
    if (why == ENOENT && !strchr(program, '/'))
        cli_complain(verb, "'%s' is in no directory of PATH", program);
    else
        cli_complain(verb, "cannot execute '%s': %s", program, strerror(why));
    return why == ENOENT || why == ENOTDIR || why == ENAMETOOLONG ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

static bool is_launcher(const char *path)
{
    static const char *const names[] = {"mpiexec", "mpirun", "orterun", "prterun", "srun", "aprun"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (!name[length] || name[length] == '.'))
            return true;
    }
    return false;
}

/* Hands the whole command line to the piolet of the other MPI: …/mpich/bin/piolet and …/openmpi/bin/piolet are
 * siblings. */
static int switch_build(const struct cli_verb *verb, const char *path, int argc, char **argv)
{
    char tree[PATH_MAX], sibling[PATH_MAX + 64] = "";
    char *const slash = find_tree(tree) ? strrchr(tree, '/') : NULL;
    if (slash) {
        *slash = '\0';
        snprintf(sibling, sizeof sibling, "%s/%s/bin/piolet", tree, OTHER_FOLDER);
    }
    if (access(sibling, X_OK) != 0 || getenv(SWITCH_MARK)) {
        cli_complain(verb, "'%s' uses %s, but this piolet was built for %s, and there is none for %s at '%s'", path,
                     OTHER_NAME, OWN_NAME, OTHER_NAME, sibling);
        return CLI_USAGE;
    }
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (words) {
        words[0] = sibling;
        memcpy(words + 1, argv, (size_t)argc * sizeof *words);
        setenv(SWITCH_MARK, "1", 1);
        interrupt_restore();
        execv(sibling, words);
    }
    cli_complain(verb, "cannot start '%s': %s", sibling, strerror(errno));
    free(words);
    return CLI_FAILED;
}

int cli_target_accept(const struct cli_verb *verb, const char *path, int argc, char **argv)
{
    if (is_launcher(path)) {
        cli_complain(verb,
                     "'%s' starts programs and must not be preloaded itself; use 'piolet %s -n N -- PROGRAM', or "
                     "'%s … piolet %s -- PROGRAM'",
                     path, verb->name, path, verb->name);
        return CLI_USAGE;
    }
    const enum cli_elf_mpi mpi = cli_elf_mpi(path);
    if (mpi == OTHER)
        return switch_build(verb, path, argc, argv);
    if (mpi == CLI_ELF_STATIC) {
        cli_complain(verb, "'%s' is linked statically, or its MPI is: no library can be put before it", path);
        return CLI_USAGE;
    }
    /* Each process would believe to be alone, and all would write the same file. */
    const char *ranks = getenv(OTHER_SIZE);
    if (mpi != CLI_ELF_UNKNOWN && ranks && atoi(ranks) > 1 && !getenv(OWN_SIZE) && !getenv("SLURM_JOB_ID")) {
        if (job_speaks())
            cli_complain(verb,
                         "the mpiexec of %s started %s processes, but '%s' uses %s and each would run alone; start it "
                         "with mpiexec.%s",
                         OTHER_NAME, ranks, path, OWN_NAME, PIOLET_MPI_NAME);
        return CLI_USAGE;
    }
    return 0;
}

int cli_target_take(const struct cli_verb *verb, const struct cli_line *line, char ret_path[PATH_MAX])
{
    if (line->options->operand_count == 0)
        return cli_usage_error(verb, "which PROGRAM?");
    const int status = cli_target_find(verb, line->options->operands[0], ret_path);
    return status ? status : cli_target_accept(verb, ret_path, line->argc, line->argv);
}

int cli_target_exec(const struct cli_verb *verb, const char *path, char **argv)
{
    unsetenv(SWITCH_MARK);
    cli_launch_forget();
    process_forget();
    fflush(NULL);
    interrupt_restore();
    /* As a shell does: what is no program in itself is a script of the shell. */
    char *name = argv[0];
    execv(path, argv);
    if (errno == ENOEXEC) {
        argv[0] = (char *)path;
        execvp(path, argv);
        argv[0] = name;
    }
    cli_complain(verb, "cannot execute '%s': %s", path, strerror(errno));
    return errno == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

/* ---- our libraries ---- */

bool cli_target_library(const char *name, char ret_path[PATH_MAX])
{
    static const char *const folders[] = {PIOLET_LIBDIR, "lib"}; /* installed, and of the build tree */
    char tree[PATH_MAX];
    *ret_path = '\0';
    if (!find_tree(tree))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (snprintf(ret_path, PATH_MAX, "%s/%s/%s", tree, folders[i], name) < PATH_MAX && access(ret_path, R_OK) == 0)
            return true;
    return false;
}

bool cli_target_shared(const char *name, char ret_path[PATH_MAX])
{
    char tree[PATH_MAX];
    *ret_path = '\0';
    return find_tree(tree) && snprintf(ret_path, PATH_MAX, "%s/share/piolet/%s", tree, name) < PATH_MAX &&
           access(ret_path, R_OK) == 0;
}

struct list {
    char *text;
    size_t length;
};

static void add_library(struct list *list, const char *path)
{
    const int written = snprintf(list->text + list->length, CLI_PRELOAD_MAX - list->length, "%s%s",
                                 list->length ? ":" : "", path);
    list->length += (size_t)written;
    if (list->length >= CLI_PRELOAD_MAX)
        list->length = CLI_PRELOAD_MAX - 1;
}

static int add_sanitizer(struct dl_phdr_info *object, size_t size, void *list)
{
    (void)size;
    if (strstr(object->dlpi_name, "/libasan.so") || strstr(object->dlpi_name, "/libtsan.so"))
        add_library(list, object->dlpi_name);
    return 0;
}

bool cli_target_preload(const struct cli_verb *verb, const char *const names[], char ret_list[CLI_PRELOAD_MAX])
{
    struct list list = {.text = ret_list};
    const char *before = getenv("LD_PRELOAD");
    ret_list[0] = '\0';
    dl_iterate_phdr(add_sanitizer, &list);
    for (size_t i = 0; names[i]; i++) {
        char path[PATH_MAX];
        if (!cli_target_library(names[i], path)) {
            cli_complain(verb, "'%s' is not there; build or install piolet as a whole", path);
            return false;
        }
        if (strpbrk(path, ": ")) {
            cli_complain(verb, "'%s' cannot be preloaded: its name holds a blank or a colon", path);
            return false;
        }
        add_library(&list, path);
    }
    if (before && *before)
        add_library(&list, before);
    return true;
}

void *cli_target_engine_symbol(const struct cli_verb *verb, const char *name)
{
    char path[PATH_MAX];
    if (!cli_target_library("libpiolet-mpiio.so", path)) {
        cli_complain(verb, "'%s' is not there; build or install piolet as a whole", path);
        return NULL;
    }
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol)
        cli_complain(verb, "%s", dlerror());
    return symbol;
}
