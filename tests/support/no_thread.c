/* Preloaded behind the engine by mpi/engine_progress.sh: a system that gives the engine no thread, and others theirs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    Dl_info from;
    if (dladdr((void *)run, &from) && strstr(from.dli_fname, "libpiolet-mpiio"))
        return EAGAIN;
    return real(thread, attributes, run, argument);
}
