/* The threads that do work for others: all of it is done, once, and nothing is touched after that.
 * proves: GPFS-1
 * It would fail if work were lost or done twice, if pool_is_done() spoke before the work could be seen, if a piece were
 * touched after that (the sanitizers tell), if work that submits work or many submitting threads stopped each other, if
 * threads did not end, or if they took the program's signals. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/pool/pool.h"

struct piece {
    struct pool_work work;
    int runs;   /* not atomic: only pool_is_done() orders it */
    int result; /* as well */
    pthread_t thread;
};

static void run_piece(struct pool_work *work)
{
    struct piece *piece = (struct piece *)work;
    piece->runs++;
    piece->result = piece->runs * 7;
    piece->thread = pthread_self();
}

static void wait_for(struct pool_work *work)
{
    while (!pool_is_done(work))
        sched_yield();
}

static int stop(void **state)
{
    (void)state;
    pool_stop();
    return 0;
}

static void all_is_done_once(void **state)
{
    (void)state;
    enum { PIECES = 20000 };
    struct piece *pieces = calloc(PIECES, sizeof *pieces);
    assert_non_null(pieces);
    for (int i = 0; i < PIECES; i++)
        pool_submit(&pieces[i].work, run_piece);
    for (int i = PIECES - 1; i >= 0; i--) {
        wait_for(&pieces[i].work);
        assert_int_equal(pieces[i].runs, 1);
        assert_int_equal(pieces[i].result, 7);
    }
    free(pieces);
}

/* A piece may go, or be used again, as soon as it is done. */
static void gone_when_done(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct piece *piece = malloc(sizeof *piece);
        memset(piece, 0xff, sizeof *piece); /* nothing but submitting sets it up */
        piece->runs = 0;
        pool_submit(&piece->work, run_piece);
        wait_for(&piece->work);
        assert_int_equal(piece->runs, 1);
        pool_submit(&piece->work, run_piece);
        wait_for(&piece->work);
        assert_int_equal(piece->result, 14);
        memset(piece, 0xee, sizeof *piece);
        free(piece);
    }
}

/* ---- many who submit ---- */

enum { SUBMITTERS = 6, EACH = 3000 };

static atomic_int sum;

static void add_one(struct pool_work *work)
{
    (void)work;
    atomic_fetch_add(&sum, 1);
}

static void *submit_many(void *arg)
{
    struct pool_work *own = arg;
    for (int i = 0; i < EACH; i++) {
        pool_submit(&own[i % 10], add_one);
        if (i % 10 == 9)
            for (int k = 0; k < 10; k++)
                wait_for(&own[k]);
    }
    return NULL;
}

/* Many threads submit, while the pool is stopped so often: nothing is lost. */
static void submit_under(int stops)
{
    static struct pool_work works[SUBMITTERS][10];
    pthread_t threads[SUBMITTERS];
    atomic_store(&sum, 0);
    for (int i = 0; i < SUBMITTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, works[i]), 0);
    for (int i = 0; i < stops; i++)
        pool_stop();
    for (int i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&sum), SUBMITTERS * EACH);
}

static void many_submitters(void **state)
{
    (void)state;
    submit_under(0);
}

/* Threads end and start again while others submit. */
static void stops_under_load(void **state)
{
    (void)state;
    submit_under(20);
}

/* ---- order, nesting, ends ---- */

/* What was submitted is done when the threads have ended. */
static void stop_waits(void **state)
{
    (void)state;
    enum { PIECES = 1000 };
    struct piece *pieces = calloc(PIECES, sizeof *pieces);
    for (int i = 0; i < PIECES; i++)
        pool_submit(&pieces[i].work, run_piece);
    pool_stop();
    for (int i = 0; i < PIECES; i++) {
        assert_true(pool_is_done(&pieces[i].work));
        assert_int_equal(pieces[i].runs, 1);
    }
    pool_stop(); /* there are none: nothing happens */
    free(pieces);
}

struct chain {
    struct pool_work work;
    struct chain *next;
};

static void run_chain(struct pool_work *work)
{
    struct chain *next = ((struct chain *)work)->next;
    atomic_fetch_add(&sum, 1);
    if (next)
        pool_submit(&next->work, run_chain);
}

static void work_submits_work(void **state)
{
    (void)state;
    enum { LINKS = 2000 };
    static struct chain links[LINKS];
    atomic_store(&sum, 0);
    for (int i = 0; i < LINKS; i++) {
        links[i].next = i + 1 < LINKS ? &links[i + 1] : NULL;
        atomic_init(&links[i].work.done, false);
    }
    pool_submit(&links[0].work, run_chain);
    for (int i = 0; i < LINKS; i++)
        wait_for(&links[i].work);
    assert_int_equal(atomic_load(&sum), LINKS);
}

static void look_at_signals(struct pool_work *work)
{
    (void)work;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    atomic_store(&sum, sigismember(&blocked, SIGALRM) == 1 && sigismember(&blocked, SIGTERM) == 1);
}

static void signals_are_the_programs(void **state)
{
    (void)state;
    struct pool_work work;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    pool_submit(&work, look_at_signals);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    wait_for(&work);
    assert_int_equal(atomic_load(&sum), 1);
    assert_int_equal(sigismember(&before, SIGALRM), sigismember(&after, SIGALRM));
}

/* The caller goes on while the work waits: another thread does it. */
static atomic_bool open_gate;

static void pass_gate(struct pool_work *work)
{
    run_piece(work);
    while (!atomic_load(&open_gate))
        sched_yield();
}

static void caller_goes_on(void **state)
{
    (void)state;
    struct piece piece = {0};
    atomic_store(&open_gate, false);
    pool_submit(&piece.work, pass_gate);
    assert_false(pool_is_done(&piece.work));
    atomic_store(&open_gate, true);
    wait_for(&piece.work);
    assert_false(pthread_equal(piece.thread, pthread_self()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_is_done_once, stop), cmocka_unit_test_teardown(gone_when_done, stop),
        cmocka_unit_test_teardown(many_submitters, stop),  cmocka_unit_test_teardown(stops_under_load, stop),
        cmocka_unit_test_teardown(stop_waits, stop),       cmocka_unit_test_teardown(work_submits_work, stop),
        cmocka_unit_test_teardown(caller_goes_on, stop),   cmocka_unit_test(signals_are_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
