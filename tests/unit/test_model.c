/* Models of programs whose phases are known: the reference cases, and what makes them hard.
 * proves: PHASE-2 PHASE-3 PHASE-4 PHASE-5 PHASE-6 PHASE-7
 * It would fail if phases were cut or joined wrongly, if a formula missed an offset, if ranks that differ in offsets
 * alone were not one phase, if the way in which a trace was folded could be seen, or if a model file did not come back.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/model_trees.h"

#include "base/rng.h"

/* ---- helpers ---- */

static void add(struct model_builder *builder, const struct trace_tree *tree)
{
    struct pl_error error;
    if (model_builder_add(builder, tree, &error) != PL_OK)
        fail_msg("rank %d: %s", tree->rank, error.text);
}

static void finish(struct model_builder *builder, struct model *model)
{
    struct pl_error error;
    if (model_builder_finish(builder, model, &error) != PL_OK)
        fail_msg("%s", error.text);
    model_builder_free(builder);
}

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* Gives the tree to the builder, or where there is none compares what the model says with it. */
static void use(struct tree_maker *maker, struct model_builder *builder, const struct model *model)
{
    if (builder)
        add(builder, tree_done(maker));
    else
        assert_true(tree_is_in(model, tree_done(maker)));
    tree_free(maker);
}

/* Writes, reads and writes the model: it must be the same, and is then what is used further. */
static void through_text(struct model *model, struct text *text)
{
    struct model again;
    struct pl_error error;
    struct text second = {0};
    model_write(model, true, text);
    if (model_read("model", text_get(text), &again, &error) != PL_OK)
        fail_msg("%s in:\n%s", error.text, text_get(text));
    model_write(&again, true, &second);
    assert_string_equal(text_get(text), text_get(&second));
    text_clear(&second);
    model_clear(model);
    *model = again;
}

static void expect_words(const struct model *model, const char *words)
{
    struct text text = {0};
    model_words(model, &text);
    assert_string_equal(text_get(&text), words);
    text_clear(&text);
}

/* ---- NAS BT-IO, full: Figures 2 to 5 and Table XI ---- */

enum { DUMPS = 40, ETYPE = 40 };

/* Offsets in etypes are the same on all ranks, in views of their own. `bytes`: of each dump of this rank. */
static void use_btio(struct model_builder *builder, const struct model *model, int rank, int size, int64_t bytes)
{
    struct tree_maker *maker = tree_new(rank, size);
    char view[200];
    snprintf(view, sizeof view,
             "disp=0 etype_bytes=40 filetype=struct(1*subarray(102,102,102;%d,0,0)) extent=%lld size=%lld "
             "datarep=\"native\"",
             rank * 51, 4 * (long long)bytes, (long long)bytes);
    const int file = tree_file(maker, "btio.full.out");
    tree_comm(maker, rank == 0 ? 148 : 147, 3); /* as in Figure 2 */
    tree_call(maker, "MPI_File_open", "open", file);
    tree_call(maker, "MPI_File_set_view", "view", file)->detail = tree_detail(maker, view);
    tree_loop(maker, DUMPS);
    tree_comm(maker, 121, 1);
    tree_access(maker, "MPI_File_write_at_all", file, bytes, 0, bytes / ETYPE);
    tree_end(maker);
    tree_comm(maker, 2, 0);
    tree_loop(maker, DUMPS);
    tree_access(maker, "MPI_File_read_at_all", file, bytes, 0, bytes / ETYPE);
    tree_end(maker);
    tree_call(maker, "MPI_File_close", "close", file);
    tree_comm(maker, 3, 3);
    use(maker, builder, model);
}

static void btio_class_b(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < 4; rank++)
        use_btio(builder, NULL, rank, 4, 10612080);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 4; rank++)
        use_btio(NULL, &model, rank, 4, 10612080);
    assert_int_equal(model.phase_count, 2);
    expect_in(text_get(&text),
              "\nloop 40\n  comm ranks=0-3 collectives=1\n"
              "  phase 1 count=40 numbers=1-40 ranks=0-3 weight=42448320 access=strided\n"
              "    # equivalent layout in bytes: idP*10612080+n*42448320\n"
              "    write_at_all file=1 size=10612080 offset=n*265302 etype=40 holes=yes\n  end\nend\n");
    expect_in(text_get(&text), "\nphase 2 count=1 numbers=41 ranks=0-3 weight=1697932800 access=strided\n"
                               "  # equivalent layout in bytes: idP*10612080+n*42448320\n  loop 40\n"
                               "    read_at_all file=1 size=10612080 offset=n*265302 etype=40 holes=yes\n");
    expect_in(text_get(&text), "file 1 name=\"btio.full.out\" type=shared processes=4 access=strided pointer=explicit "
                               "calls=collective waits=blocking views=1 written=1697932800 read=1697932800\n");
    expect_in(text_get(&text), "filetype=struct(1*subarray(102,102,102;{idP*51},0,0))");
    expect_words(&model, "41 phases: 40 × collective strided write of 10.1 MiB by each of 4 processes, "
                         "1 × 40 collective strided reads of 10.1 MiB by each of 4 processes; "
                         "1.6 GiB written, 1.6 GiB read; shared file");
    text_clear(&text);
    model_clear(&model);
}

/* Class C on 16: 162 = 41 + 41 + 40 + 40, so the ranks' sizes differ. A rank has 4 cells; cell c of rank (i, j) is
 * (c, (i + c) % 4, (j + c) % 4) or alike. */
static int64_t class_c_bytes(int rank)
{
    static const int64_t CELLS[] = {41, 41, 40, 40};
    int64_t points = 0;
    for (int c = 0; c < 4; c++)
        points += CELLS[c] * CELLS[(rank / 4 + c) % 4] * CELLS[(rank % 4 + 3 * c) % 4];
    return points * ETYPE;
}

static void btio_class_c(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    int64_t all = 0;
    for (int rank = 0; rank < 16; rank++) {
        all += class_c_bytes(rank);
        use_btio(builder, NULL, rank, 16, class_c_bytes(rank));
    }
    assert_true(all == (int64_t)162 * 162 * 162 * ETYPE);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 16; rank++)
        use_btio(NULL, &model, rank, 16, class_c_bytes(rank));
    assert_int_equal(model.phase_count, 2); /* uneven sizes are one phase */
    expect_in(text_get(&text), "phase 1 count=40 numbers=1-40 ranks=0-15 weight=170061120 ");
    text_clear(&text);
    model_clear(&model);
}

/* ---- MADbench2: Table VIII ---- */

enum { BINS = 8, MIB32 = 33554432 };

static void use_madbench(struct model_builder *builder, const struct model *model, int rank)
{
    /* turns, then what is read and written in each, at which bin first; -1: not */
    static const struct {
        int turns, write, read, comm;
    } PARTS[] = {{BINS, 0, -1, 4}, {2, -1, 0, 0}, {6, 0, 2, 0}, {2, 6, -1, 4}, {BINS, -1, 0, 2}};
    struct tree_maker *maker = tree_new(rank, 16);
    const int file = tree_file(maker, "files/data");
    const int64_t first = (int64_t)rank * BINS * MIB32;
    tree_call(maker, "MPI_File_open", "open", file);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        tree_loop(maker, PARTS[i].turns);
        for (int reads = 0; reads < 2; reads++) {
            const int64_t bin = reads ? PARTS[i].read : PARTS[i].write;
            if (bin < 0)
                continue;
            tree_call(maker, "MPI_File_seek", "seek", file);
            tree_access(maker, reads ? "MPI_File_read" : "MPI_File_write", file, MIB32, first + bin * MIB32, MIB32);
        }
        tree_end(maker);
        if (PARTS[i].comm)
            tree_comm(maker, 5, PARTS[i].comm);
    }
    tree_call(maker, "MPI_File_close", "close", file);
    use(maker, builder, model);
}

static void madbench(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < 16; rank++)
        use_madbench(builder, NULL, rank);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 16; rank++)
        use_madbench(NULL, &model, rank);
    assert_int_equal(model.phase_count, 5);
    const char *words = text_get(&text);
    expect_in(words, "phase 1 count=1 numbers=1 ranks=0-15 weight=4294967296 access=sequential\n  loop 8\n"
                     "    write file=1 size=33554432 offset=idP*268435456+n*33554432\n");
    expect_in(words, "phase 2 count=1 numbers=2 ranks=0-15 weight=1073741824 access=sequential\n  loop 2\n"
                     "    read file=1 size=33554432 offset=idP*268435456+n*33554432\n");
    expect_in(words, "phase 3 count=1 numbers=3 ranks=0-15 weight=6442450944 access=sequential\n  loop 6\n"
                     "    write file=1 size=33554432 offset=idP*268435456+n*33554432\n"
                     "    read file=1 size=33554432 offset=idP*268435456+67108864+n*33554432\n  end\nend\n");
    expect_in(words, "phase 4 count=1 numbers=4 ranks=0-15 weight=1073741824 access=sequential\n  loop 2\n"
                     "    write file=1 size=33554432 offset=idP*268435456+201326592+n*33554432\n");
    expect_in(words, "phase 5 count=1 numbers=5 ranks=0-15 weight=4294967296 access=sequential\n  loop 8\n    read ");
    expect_in(words, "type=shared processes=16 access=sequential pointer=individual calls=independent waits=blocking");
    text_clear(&text);
    model_clear(&model);
}

/* ---- what makes programs hard ---- */

/* Rank 0 writes a header into each dump, the last two ranks only communicate. */
static void use_writers(struct model_builder *builder, const struct model *model, int rank)
{
    struct tree_maker *maker = tree_new(rank, 8);
    const int file = tree_file(maker, "dump");
    tree_call(maker, "MPI_File_open", "open", file);
    tree_loop(maker, 10);
    tree_comm(maker, 3 + rank, 2);
    if (rank == 0)
        tree_access(maker, "MPI_File_write_at", file, 512, 0, 7 * 4096 + 512);
    if (rank < 6)
        tree_access(maker, "MPI_File_write_at", file, 4096, 512 + 4096 * (int64_t)rank, 7 * 4096 + 512);
    tree_end(maker);
    tree_comm(maker, 1, 1);
    tree_call(maker, "MPI_File_close", "close", file);
    use(maker, builder, model);
}

static void subsets_of_ranks(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < 8; rank++)
        use_writers(builder, NULL, rank);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 8; rank++)
        use_writers(NULL, &model, rank);
    assert_int_equal(model.phase_count, 2);
    expect_in(text_get(&text), "loop 10\n  comm ranks=0-5 collectives=2\n"
                               "  phase 1 count=10 numbers=1-19/2 ranks=0 weight=512 access=strided\n");
    expect_in(text_get(&text), "  phase 2 count=10 numbers=2-20/2 ranks=0-5 weight=24576 access=strided\n"
                               "    write_at file=1 size=4096 offset=idP*4096+512+n*29184\n");
    expect_in(text_get(&text), "comm ranks=6-7 collectives=21\n");
    text_clear(&text);
    model_clear(&model);
}

/* A file for each process and step, opened in the course; names with and without zeros before the number. */
static void use_own_files(struct model_builder *builder, const struct model *model, int rank, int steps)
{
    struct tree_maker *maker = tree_new(rank, 12);
    for (int step = 0; step < steps; step++) {
        char name[64];
        snprintf(name, sizeof name, "out/step%d.%03d", step * 5, rank);
        const int file = tree_file(maker, name);
        maker->files[file].ranks = 1;
        maker->files[file].first_rank = rank;
        tree_call(maker, "MPI_File_open", "open", file);
        tree_access(maker, "MPI_File_write", file, 1000 + rank, 0, 0);
        tree_call(maker, "MPI_File_close", "close", file);
        tree_comm(maker, 1, 1);
    }
    use(maker, builder, model);
}

static bool take_names(void *context, const struct model_event *event)
{
    struct text *names = context;
    struct pl_error error;
    if (event->step->name) {
        assert_int_equal(model_render(event->step->name, event->rank, event->n, names, &error), PL_OK);
        text_add(names, " ");
    }
    return true;
}

static void a_file_for_each_process(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct pl_error error;
    struct text text = {0}, names = {0};
    for (int rank = 0; rank < 12; rank++)
        use_own_files(builder, NULL, rank, 30);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 12; rank++)
        use_own_files(NULL, &model, rank, 30);
    expect_in(text_get(&text), "loop 30\n  open ranks=0-11 file=1 instance=n name=\"out/step{n*5}.{idP:3}\" "
                               "with=\"amode=create|rdwr ranks=1 first={idP}\"\n");
    expect_in(text_get(&text), "    write file=1 instance=n size=idP+1000 offset=0\n");
    expect_in(text_get(&text), "type=unique processes=12 ");
    assert_int_equal(model.file_count, 1);
    assert_int_equal(model_expand(&model, 11, take_names, &names, &error), PL_OK);
    expect_in(text_get(&names), "out/step0.011 out/step5.011 out/step10.011 ");
    text_clear(&names);
    text_clear(&text);
    model_clear(&model);
}

/* A file for each step, and writes of any size; `any`: and of any number. */
static void use_many_files(struct model_builder *builder, const struct model *model, int rank, int steps, bool any)
{
    struct tree_maker *maker = tree_new(rank, 2);
    for (int step = 0; step < steps; step++) {
        char name[64];
        int64_t offset = 100000 * rank;
        snprintf(name, sizeof name, "out/f%05d", step);
        const int file = tree_file(maker, name);
        tree_call(maker, "MPI_File_open", "open", file);
        const int writes = any ? (int)(rng_at((uint64_t)rank + 7, (uint64_t)step) % 20) : 10;
        for (int i = 0; i < writes; i++) {
            const int64_t bytes = 8 * (1 + (int64_t)(rng_at((uint64_t)rank, (uint64_t)(step * 100 + i)) % 200));
            tree_access(maker, "MPI_File_write_at", file, bytes, offset, 0);
            offset += bytes;
        }
        tree_call(maker, "MPI_File_close", "close", file);
    }
    use(maker, builder, model);
}

/* However many: the list is looked at every 4096 items, which may be in the middle of a turn. */
static void a_file_for_each_step(void **state)
{
    (void)state;
    for (int steps = 300; steps <= 1200; steps += 100) {
        struct model_builder *builder = model_builder_new();
        struct model model;
        struct text text = {0};
        char words[256];
        for (int rank = 0; rank < 2; rank++)
            use_many_files(builder, NULL, rank, steps, false);
        finish(builder, &model);
        through_text(&model, &text);
        for (int rank = 0; rank < 2; rank++)
            use_many_files(NULL, &model, rank, steps, false);
        snprintf(words, sizeof words, "1 phase: 1 × %d × (open, 10 independent random writes, close) of", steps);
        text_clear(&text);
        model_words(&model, &text);
        expect_in(text_get(&text), words);
        text_clear(&text);
        model_clear(&model);
    }
}

static void a_file_for_each_step_and_any_writes(void **state)
{
    enum { STEPS = 1000, BYTES_A_CALL = 20 };
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < 2; rank++)
        use_many_files(builder, NULL, rank, STEPS, true);
    finish(builder, &model);
    model_write(&model, false, &text);
    assert_true(strlen(text_get(&text)) < (size_t)(BYTES_A_CALL * 2 * STEPS * 11));
    text_clear(&text);
    through_text(&model, &text);
    for (int rank = 0; rank < 2; rank++)
        use_many_files(NULL, &model, rank, STEPS, true);
    text_clear(&text);
    model_words(&model, &text);
    expect_in(text_get(&text), "1 phase: 1 × (1000 open, ");
    text_clear(&text);
    model_clear(&model);
}

/* Regular turns, the same calls in no order, and then others. */
static void use_three_parts(struct model_builder *builder, const struct model *model, int rank)
{
    struct tree_maker *maker = tree_new(rank, 2);
    const int file = tree_file(maker, "a.dat");
    tree_call(maker, "MPI_File_open", "open", file);
    for (int i = 0; i < 12; i++) {
        tree_access(maker, "MPI_File_write_at_all", file, 4000000, 4000000 * (2 * i + rank), 0);
        tree_access(maker, "MPI_File_read_at_all", file, 1000, 4000000 * (2 * i + rank), 0);
    }
    for (int i = 0; i < 60; i++) {
        const uint64_t any = rng_at(7, (uint64_t)i);
        tree_access(maker, any & 1 ? "MPI_File_write_at_all" : "MPI_File_read_at_all", file,
                    100000 + (int64_t)(any >> 8 & 0xffff), (int64_t)(any >> 32) + rank, 0);
    }
    for (int i = 0; i < 20; i++) {
        const uint64_t any = rng_at(8 + (uint64_t)rank, (uint64_t)i);
        tree_access(maker, "MPI_File_write_at", file, 8 + (int64_t)(any & 0xff), (int64_t)(any >> 40), 0);
    }
    tree_call(maker, "MPI_File_close", "close", file);
    use(maker, builder, model);
}

static void what_has_nothing_in_common_is_apart(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < 2; rank++)
        use_three_parts(builder, NULL, rank);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 2; rank++)
        use_three_parts(NULL, &model, rank);
    expect_in(text_get(&text), "phase 1 count=1 numbers=1 ranks=0-1 weight=96024000 access=strided\n");
    expect_in(text_get(&text), "  loop 12\n    write_at_all");
    expect_in(text_get(&text), "phase 3 count=1 numbers=3 ranks=0-1 ");
    expect_in(text_get(&text), " kind=metadata\n  loop 20\n    write_at ");
    text_clear(&text);
    model_words(&model, &text);
    expect_in(text_get(&text), "3 phases: ");
    text_clear(&text);
    model_clear(&model);
}

/* HDF5: rank 0 writes small structures beside the data of all. */
static void use_hdf5(struct model_builder *builder, const struct model *model, int rank)
{
    struct tree_maker *maker = tree_new(rank, 4);
    const int file = tree_file(maker, "a.h5");
    tree_call(maker, "MPI_File_open", "open", file);
    if (rank == 0) {
        tree_access(maker, "MPI_File_write_at", file, 96, 0, 0);
        tree_access(maker, "MPI_File_write_at", file, 544, 96, 0);
        tree_access(maker, "MPI_File_write_at", file, 120, 680, 0);
    }
    tree_comm(maker, 1, 1);
    tree_access(maker, "MPI_File_write_at_all", file, 1 << 20, 2048 + ((int64_t)rank << 20), 0);
    tree_comm(maker, 1, 1);
    tree_access(maker, "MPI_File_write_at", file, 64, (5 << 20) + rank * 64, 0); /* small, but everybody's data */
    use(maker, builder, model);
}

static void metadata_is_kept_apart(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < 4; rank++)
        use_hdf5(builder, NULL, rank);
    finish(builder, &model);
    through_text(&model, &text);
    expect_in(text_get(&text), "phase 1 count=1 numbers=1 ranks=0 weight=96 access=sequential kind=metadata\n");
    expect_in(text_get(&text), "phase 4 count=1 numbers=4 ranks=0-3 weight=4194304 access=sequential\n");
    expect_in(text_get(&text), "phase 5 count=1 numbers=5 ranks=0-3 weight=256 access=sequential\n");
    expect_words(&model, "5 phases: 1 × collective sequential write of 1 MiB by each of 4 processes, 1 × independent "
                         "sequential write of 64 bytes by each of 4 processes, 3 of small accesses to metadata; 4.0 "
                         "MiB written, 0 bytes read; shared file");
    text_clear(&text);
    model_clear(&model);
}

/* The same file open twice at once, failed calls, a shared pointer, and 10^9 calls that are never gone through. */
static void odd_calls(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct tree_maker *maker = tree_new(0, 1);
    struct model model;
    struct text text = {0};
    const int first = tree_file(maker, "same"), second = tree_file(maker, "same");
    tree_call(maker, "MPI_File_open", "open", first);
    tree_call(maker, "MPI_File_open", "open", second);
    tree_access(maker, "MPI_File_write_shared", first, 10, -1, 0);
    tree_access(maker, "MPI_File_read_at", second, 10, 5, 0)->code = 35;
    tree_loop(maker, 1000);
    tree_loop(maker, 1000000);
    tree_access(maker, "MPI_File_read_at_all_c", second, 8, 0, 8)->stride[1] = 1 << 30;
    tree_end(maker);
    tree_comm(maker, 1, 1);
    tree_end(maker);
    add(builder, tree_done(maker));
    tree_free(maker);
    finish(builder, &model);
    through_text(&model, &text);
    assert_int_equal(model.file_count, 2);
    assert_int_equal(model.failed_calls, 1);
    expect_in(text_get(&text), "  write_shared file=1 size=10\n");
    expect_in(text_get(&text), "loop 1000000\n      read_at_all file=2 size=8 "
                               "offset=n/1000000*1073741824+n%1000000*8\n");
    text_clear(&text);
    model_clear(&model);
}

/* ---- layouts in memory ---- */

/* Two layouts in turn; the last rank has one of them and then one piece, and a text that is too long. */
static struct tree_maker *use_layouts(int rank)
{
    struct tree_maker *maker = tree_new(rank, 4);
    const int file = tree_file(maker, "a");
    const int even = tree_detail(maker, "memory=\"vector(2,1,2,MPI_INT)\""),
              odd = tree_detail(maker, "memory=\"indexed([1 2],[0 5],MPI_INT)\""),
              long_one = tree_detail(maker, "memory=\"...\"");
    tree_call(maker, "MPI_File_open", "open", file);
    tree_loop(maker, 6);
    tree_access(maker, "MPI_File_write_at_all", file, 24, 24 * rank, 192)->detail = even;
    tree_comm(maker, 1, 1);
    tree_access(maker, "MPI_File_write_at_all", file, 24, 24 * rank + 96, 192)->detail = rank < 3 ? odd : -1;
    tree_comm(maker, 1, 1);
    tree_end(maker);
    tree_access(maker, "MPI_File_read_at_all", file, 48, 0, 0)->detail = rank == 3 ? long_one : -1;
    return maker;
}

static bool take_layout(void *context, const struct model_event *event)
{
    if (event->step->access)
        text_format(context, "%d", (int)event->memory);
    return true;
}

static void layouts_do_not_part_ranks(void **state)
{
    (void)state;
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct pl_error error;
    struct text text = {0}, first = {0}, last = {0};
    for (int rank = 0; rank < 4; rank++)
        use(use_layouts(rank), builder, NULL);
    finish(builder, &model);
    through_text(&model, &text);
    for (int rank = 0; rank < 4; rank++)
        use(use_layouts(rank), NULL, &model);
    expect_in(text_get(&text), "memory 1 type=\"vector(2,1,2,MPI_INT)\"\n"
                               "memory 2 type=\"indexed([1 2],[0 5],MPI_INT)\"\nmemory 3 left_out=yes\nsteps\n");
    expect_in(text_get(&text), "phase 1 count=1 numbers=1 ranks=0-3 weight=1152 access=strided\n  loop 12\n");
    assert_int_equal(model_expand(&model, 0, take_layout, &first, &error), PL_OK);
    assert_int_equal(model_expand(&model, 3, take_layout, &last, &error), PL_OK);
    assert_string_equal(text_get(&first), "1212121212120");
    assert_string_equal(text_get(&last), "1010101010103");
    text_clear(&first);
    text_clear(&last);
    text_clear(&text);
    model_clear(&model);
}

/* ---- computing between the calls ---- */

static double computed(const struct model_step *step)
{
    double sum = step->kind == MODEL_LOOP ? 0 : step->observed.gap_ns;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        sum += computed(&step->body[i]);
    return sum;
}

/* Ten seconds of computing, a seek and queries in a loop without accesses, and a thousand writes: the model sums the
 * computing up as it was, wherever the fold of the model looks at some turns for all. */
static void computing_is_counted_once(void **state)
{
    enum { TURNS = 1000, QUERIES = 50 };
    static const int64_t before = 10000000000, in_query = 1000000, in_write = 2000;
    struct model_builder *builder = model_builder_new();
    struct tree_maker *maker = tree_new(0, 1);
    struct model model;
    double sum = 0;
    (void)state;
    assert_non_null(builder);
    const int file = tree_file(maker, "/data");
    tree_call(maker, "MPI_File_open", "open", file);
    tree_call(maker, "MPI_File_seek", "seek", file)->times.gap_ns = before;
    tree_loop(maker, QUERIES);
    tree_call(maker, "MPI_File_get_position", "query", file)->times.gap_ns = QUERIES * in_query;
    tree_end(maker);
    tree_loop(maker, TURNS);
    tree_access(maker, "MPI_File_write_at", file, 4096, 0, 4096)->times.gap_ns = TURNS * in_write;
    tree_end(maker);
    use(maker, builder, NULL);
    finish(builder, &model);
    for (int i = 0; i < model.step_count; i++)
        sum += computed(&model.steps[i]);
    assert_true(fabs(sum - (double)(before + QUERIES * in_query + TURNS * in_write)) < 0.001 * (double)before);
    model_clear(&model);
}

/* ---- many ranks ---- */

static void many_ranks(void **state)
{
    (void)state;
    enum { RANKS = 5000 };
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct text text = {0};
    for (int rank = 0; rank < RANKS; rank++)
        use_btio(builder, NULL, rank, RANKS, rank % 100 < 42 ? 410000 : 400000);
    finish(builder, &model);
    model_write(&model, false, &text);
    expect_in(text_get(&text), "ranks=0-4999 weight=2021000000 ");
    use_btio(NULL, &model, RANKS - 1, RANKS, 400000);
    assert_in_range(text.length, 1, 20000); /* the file does not grow with the ranks */
    text_clear(&text);
    model_clear(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(btio_class_b),
        cmocka_unit_test(btio_class_c),
        cmocka_unit_test(madbench),
        cmocka_unit_test(subsets_of_ranks),
        cmocka_unit_test(a_file_for_each_process),
        cmocka_unit_test(a_file_for_each_step),
        cmocka_unit_test(a_file_for_each_step_and_any_writes),
        cmocka_unit_test(what_has_nothing_in_common_is_apart),
        cmocka_unit_test(metadata_is_kept_apart),
        cmocka_unit_test(odd_calls),
        cmocka_unit_test(layouts_do_not_part_ranks),
        cmocka_unit_test(computing_is_counted_once),
        cmocka_unit_test(many_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
