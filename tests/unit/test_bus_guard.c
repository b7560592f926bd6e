/* The guard of mapped files in front of a program's own handler of SIGBUS.
 * proves: GPFS-7
 * Fails when a handler that the program wants to be called once is called for ever: the fault comes again, and must end
 * the program as it would without the guard. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(handler_called_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
