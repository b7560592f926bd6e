/* The guard of mapped files in front of a program's own handler of SIGBUS.
 * proves: GPFS-7
 * Fails when a handler that the program wants to be called once is called for ever: the fault comes again, and must end
 * the program as it would without the guard. And when a store to a shielded mapping of a file that was cut ends the
 * program, or is not told, or one to another mapping is taken for it. */
#include "base/bus_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static volatile sig_atomic_t calls;

static void count_call(int signal)
{
    (void)signal;
    if (++calls > 1)
        _exit(3);
}

/* Never comes back. */
static void fault_in_child(void)
{
    const struct sigaction once = {.sa_handler = count_call, .sa_flags = (int)SA_RESETHAND};
    const struct rlimit no_core = {0};
    FILE *empty = tmpfile();
    setrlimit(RLIMIT_CORE, &no_core);
    if (!empty || sigaction(SIGBUS, &once, NULL) != 0 || !bus_guard_ready())
        _exit(4);
    volatile char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(empty), 0);
    bytes[0] = 1;
    _exit(5);
}

static void handler_called_once(void **state)
{
    (void)state;
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        fault_in_child();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

/* Never comes back: 0, where the shielded page took the store; then by the signal, as the other one has no shield. */
static void store_in_child(bool shielded)
{
    static struct bus_shield shield;
    static atomic_bool failed;
    const struct rlimit no_core = {0};
    FILE *file = tmpfile();
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGBUS, SIG_DFL); /* cmocka has a handler */
    if (!file || ftruncate(fileno(file), 8192) != 0 || !bus_guard_ready())
        _exit(4);
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    volatile char *bytes = map;
    bus_guard_add_shield(&shield, &failed);
    bus_guard_shield(&shield, map + 4096, 4096);
    bytes[4096] = 1;
    if (atomic_load(&failed) || ftruncate(fileno(file), 0) != 0)
        _exit(5);
    bytes[shielded ? 8191 : 0] = 1;
    _exit(atomic_load(&failed) && bytes[8191] == 1 && bytes[4096] == 0 ? 0 : 6);
}

static void shielded_store_goes_on(void **state)
{
    (void)state;
    for (int shielded = 0; shielded < 2; shielded++) {
        int status;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            store_in_child(shielded);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status), shielded ? 0 : SIGBUS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(handler_called_once), cmocka_unit_test(shielded_store_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
