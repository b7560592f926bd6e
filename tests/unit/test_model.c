/* Models of programs whose phases are known: the reference cases, and what makes them hard.
 * proves: PHASE-2 PHASE-3 PHASE-4 PHASE-5 PHASE-6 PHASE-7
 * It would fail if phases were cut or joined wrongly, if a formula missed an offset, if ranks that differ in offsets
 * alone were not one phase, if the way in which a trace was folded could be seen, or if a model file did not come back.
 */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(btio_class_b),
        cmocka_unit_test(btio_class_c),
        cmocka_unit_test(madbench),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
