/* A model and a trace as people see them. */
#include "model/model.h"

#include "base/checked.h"
#include "base/units.h"
#include "lab/show/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text for people ---- */

/* A model in a few words. */

/* "10.1 MiB": requests are powers of two more often than not. */
static void model_words_add_bytes(struct text *text, int64_t bytes)
{
    double number = (double)bytes;
    int unit = 0;
    for (; number >= 1024 && unit + 1 < UNITS_SIZES; unit++)
        number /= 1024;
    const char *name = unit == 0 ? "bytes" : UNITS_BINARY[unit];
    if (unit == 0 || number == (double)(int64_t)number)
        text_format(text, "%.0f %s", number, name);
    else
        text_format(text, "%.1f %s", number, name);
}

/* "collective strided write", "nonblocking independent sequential reads". */
static void model_words_add_operation(struct text *text, const char *operation, const char *order, bool many)
{
    const struct model_operation is = model_operation_of(operation);
    text_format(text, "%s%s %s %s%s",
                is.nonblocking ? "nonblocking "
                : is.split     ? "split "
                               : "",
                is.collective ? "collective" : "independent", order, is.reads ? "read" : "write", many ? "s" : "");
}

/* The step of a loop that has one, besides communication; NULL: it is no loop, or has several. */
static const struct model_step *model_words_only(const struct model_step *step)
{
    const struct model_step *only = NULL;
    for (int i = 0; i < step->count; i++) {
        if (step->body[i].kind == MODEL_COMM)
            continue;
        if (only)
            return NULL;
        only = &step->body[i];
    }
    return only;
}

/* Calls in no order that a rule tells: each, and how often the first rank does it in all phases of the family. */
static const char *model_words_add_free(struct text *text, const struct model_step *step, const char *order,
                                        int64_t rank, int64_t executions, const char *between)
{
    if (step->kind == MODEL_LOOP)
        executions = model_turns_in(step, rank, 0, executions);
    for (int i = 0; i < step->count; i++)
        between = model_words_add_free(text, &step->body[i], order, rank, executions, between);
    if (step->kind != MODEL_CALL || executions == 0)
        return between;
    text_format(text, "%s%" PRId64 " ", between, executions);
    if (step->access)
        model_words_add_operation(text, step->operation, order, executions > 1);
    else
        text_add(text, step->operation);
    return ", ";
}

/* The accesses of a phase: how often each is done, and in which order. `turns`: of the loops around; `at_most`: some
 * ranks make fewer. */
static void model_words_add_step(struct text *text, const struct model_step *step, const char *order, int64_t turns,
                                 bool at_most)
{
    const struct model_step *only = model_words_only(step);
    if (step->kind == MODEL_LOOP) {
        turns = saturating_mul(turns, step->turns);
        at_most = at_most || step->turns_of.text;
    }
    if (only) {
        model_words_add_step(text, only, order, turns, at_most);
        return;
    }
    if (turns > 1)
        text_format(text, "%s%" PRId64 "%s", at_most ? "up to " : "", turns, step->kind == MODEL_LOOP ? " × " : " ");
    if (step->kind == MODEL_LOOP)
        text_add(text, "(");
    const char *between = "";
    for (int i = 0; i < step->count; i++) {
        if (step->body[i].kind == MODEL_COMM)
            continue;
        text_add(text, between);
        model_words_add_step(text, &step->body[i], order, 1, false);
        between = ", ";
    }
    if (step->kind == MODEL_LOOP)
        text_add(text, ")");
    else if (step->access)
        model_words_add_operation(text, step->operation, order, turns > 1);
    else
        text_add(text, step->operation);
}

void model_words_phase(const struct model_phase_facts *phase, struct text *text)
{
    text_format(text, "%" PRId64 " × ", phase->count);
    if (model_is_free(phase->step)) {
        const int64_t rank = model_ranks_next(&phase->step->ranks, -1);
        text_add(text, phase->count > 1 ? "in all (" : "(");
        model_words_add_free(text, phase->step, model_order_word(phase->order), rank, phase->count, "");
        text_format(text, " in no order%s)", phase->processes > 1 ? " by the first process" : "");
    } else {
        model_words_add_step(text, phase->step, model_order_word(phase->order), 1, false);
    }
    text_add(text, " of ");
    model_words_add_bytes(text, phase->smallest);
    if (phase->smallest != phase->largest) {
        text_add(text, " to ");
        model_words_add_bytes(text, phase->largest);
    }
    text_format(text, phase->processes == 1 ? " by 1 process" : " by each of %" PRId64 " processes", phase->processes);
}

enum { PHASES_TOLD = 8 };

static void model_words_add_phases(struct text *text, const struct model_facts *facts)
{
    int told = 0, data = 0;
    int64_t metadata = 0;
    text_format(text, "%" PRId64 " phase%s", facts->total, facts->total == 1 ? "" : "s");
    for (int i = 0; i < facts->phase_count; i++) {
        if (facts->phases[i].metadata) {
            metadata += facts->phases[i].count;
            continue;
        }
        if (++data > PHASES_TOLD)
            continue;
        text_add(text, told++ ? ", " : ": ");
        model_words_phase(&facts->phases[i], text);
    }
    if (data > PHASES_TOLD)
        text_format(text, ", and %d families more", data - PHASES_TOLD);
    if (metadata > 0)
        text_format(text, "%s%" PRId64 " of small accesses to metadata", told ? ", " : ": ", metadata);
}

static void model_words_add_files(struct text *text, const struct model_facts *facts)
{
    static const char *const TYPES[] = {"shared file", "file for each process", "file for each group of processes"};
    static const char *const MANY[] = {"shared files", "times a file for each process", "times a file for each group"};
    int count[3] = {0};
    for (int i = 0; i < facts->file_count; i++) /* of those with data: a file that is only looked at says little */
        count[facts->files[i].type] += facts->files[i].read_bytes + facts->files[i].written_bytes > 0;
    for (int type = 0; type < 3; type++)
        if (count[type] == 1)
            text_format(text, "; %s%s", type ? "one " : "", TYPES[type]);
        else if (count[type] > 1)
            text_format(text, "; %d %s", count[type], MANY[type]);
}

void model_words(const struct model *model, struct text *text)
{
    struct model_facts facts;
    struct pl_error error;
    if (model_facts_find(model, &facts, &error) != PL_OK) {
        text->failed = true;
        return;
    }
    model_words_add_phases(text, &facts);
    text_add(text, "; ");
    model_words_add_bytes(text, facts.written_bytes);
    text_add(text, " written, ");
    model_words_add_bytes(text, facts.read_bytes);
    text_add(text, " read");
    model_words_add_files(text, &facts);
    model_facts_clear(&facts);
}

/* ---- differences ---- */

/* Two models side by side: the lines that one has and the other has not, as diff(1) tells them. */

struct lines {
    struct text text;
    char **line;
    size_t count;
};

/* Takes the name of a file out of a line: which one it is tells its number. */
static void diff_drop_name(char *line)
{
    static const char begin[] = " name=\"";
    char *name = strstr(line, begin), *end = name ? strchr(name + sizeof begin - 1, '"') : NULL;
    if (end) /* quotes inside of it are told otherwise */
        memmove(name, end + 1, strlen(end + 1) + 1);
}

static bool diff_split(const struct model *model, bool with_names, struct lines *lines)
{
    *lines = (struct lines){0};
    model_write(model, false, &lines->text);
    if (lines->text.failed || !lines->text.data)
        return false;
    size_t count = 0;
    for (const char *c = lines->text.data; *c; c++)
        count += *c == '\n';
    lines->line = calloc(count + 1, sizeof *lines->line);
    char *rest = NULL;
    for (char *line = lines->line ? strtok_r(lines->text.data, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (!with_names)
            diff_drop_name(line);
        if (strncmp(line, "end-", 4) != 0 && (with_names || strncmp(line, "program ", 8) != 0))
            /* sums differ whenever something does */
            lines->line[lines->count++] = line;
    }
    return lines->line != NULL;
}

static bool diff_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void diff_clear(struct lines *lines)
{
    text_clear(&lines->text);
    free(lines->line);
}

/* Longest common subsequence of what is left between equal beginnings and ends: length[i][j] of the tails from i and j.
 */
static int *diff_common(char **a, size_t a_count, char **b, size_t b_count)
{
    int *length = calloc((a_count + 1) * (b_count + 1), sizeof *length);
    for (size_t i = a_count; length && i-- > 0;)
        for (size_t j = b_count; j-- > 0;) {
            const int skip_a = length[(i + 1) * (b_count + 1) + j], skip_b = length[i * (b_count + 1) + j + 1];
            length[i * (b_count + 1) + j] = diff_same(a[i], b[j]) ? 1 + length[(i + 1) * (b_count + 1) + j + 1]
                                            : skip_a > skip_b     ? skip_a
                                                                  : skip_b;
        }
    return length;
}

static int diff_write_differences(char **a, size_t a_count, char **b, size_t b_count, struct text *text)
{
    int *length = diff_common(a, a_count, b, b_count);
    int differences = 0;
    size_t i = 0, j = 0;
    if (!length) {
        text->failed = true;
        return 1;
    }
    while (i < a_count || j < b_count) {
        if (i < a_count && j < b_count && diff_same(a[i], b[j])) {
            i++;
            j++;
            continue;
        }
        const bool from_a = j == b_count ||
                            (i < a_count && length[(i + 1) * (b_count + 1) + j] >= length[i * (b_count + 1) + j + 1]);
        text_format(text, "%c %s\n", from_a ? '<' : '>', from_a ? a[i++] : b[j++]);
        differences++;
    }
    free(length);
    return differences;
}

int model_diff(const struct model *a, const struct model *b, bool with_names, struct text *text)
{
    struct lines x, y;
    int differences = 1;
    const bool split_a = diff_split(a, with_names, &x), split_b = diff_split(b, with_names, &y);
    if (split_a && split_b && x.line && y.line) {
        size_t begin = 0, end = 0;
        while (begin < x.count && begin < y.count && diff_same(x.line[begin], y.line[begin]))
            begin++;
        while (end < x.count - begin && end < y.count - begin &&
               diff_same(x.line[x.count - 1 - end], y.line[y.count - 1 - end]))
            end++;
        differences = diff_write_differences(x.line + begin, x.count - begin - end, y.line + begin,
                                             y.count - begin - end, text);
    } else {
        text->failed = true;
    }
    diff_clear(&x);
    diff_clear(&y);
    return differences;
}

/* ---- a picture ---- */

/* Three panels with two of the three axes process, tick, offset each: when it happens (tick × offset), who takes part
 * (tick × process), and the spatial strip (offset × process). Writes and reads have a colour each. */

enum { RANKS_MAX = 32, POINTS_MAX = 12000, WIDTH = 900, HEIGHT = 860 };

struct points {
    double *tick, *offset, *rank;
    double *place, *size; /* of the strip */
    size_t count;
};

enum { TICK, OFFSET, RANK, PLACE, SIZE, COLUMNS }; /* columns, in the order of their memory */

struct picture {
    const struct model *model;
    const struct model_facts *facts;
    struct points points[2]; /* writes, reads */
    int file;
    int64_t ranks, ranks_drawn;
    size_t room;        /* points that a rank may have */
    size_t taken, seen; /* of the rank; the second also counts calls that are not drawn */
    bool left_out, views;
};

static bool model_plot_take_point(void *context, const struct model_event *event)
{
    struct picture *picture = context;
    const struct model_step *step = event->step;
    if (++picture->seen > MODEL_LOOK_MAX) {
        picture->left_out = true;
        return false;
    }
    if (!step->access || step->file != picture->file || event->offset < 0)
        return true;
    if (picture->taken == picture->room) {
        picture->left_out = true;
        return false;
    }
    struct points *points = &picture->points[model_operation_of(step->operation).reads];
    const double etype = step->etype_bytes > 0 ? (double)step->etype_bytes : 1;
    picture->taken++;
    picture->views |= step->holes;
    points->tick[points->count] = (double)event->tick;
    points->offset[points->count] = (double)event->offset * etype;
    points->size[points->count] = (double)event->size;
    points->place[points->count] =
        step->holes ? ((double)event->n * (double)picture->facts->files[step->file].processes + (double)event->rank) *
                          (double)event->size
                    : points->offset[points->count];
    points->rank[points->count++] = (double)event->rank;
    return true;
}

static pl_status model_plot_collect(struct picture *picture, struct pl_error *error)
{
    const int64_t ranks = picture->model->ranks;
    picture->ranks_drawn = ranks < RANKS_MAX ? ranks : RANKS_MAX;
    picture->room = POINTS_MAX / (size_t)picture->ranks_drawn;
    for (int i = 0; i < 2; i++) {
        struct points *points = &picture->points[i];
        points->tick = malloc((size_t)COLUMNS * POINTS_MAX * sizeof *points->tick);
        if (!points->tick)
            return pl_fail(error, PL_E_NOMEM, "not enough memory for a picture");
        points->offset = points->tick + POINTS_MAX;
        points->rank = points->offset + POINTS_MAX;
        points->place = points->rank + POINTS_MAX;
        points->size = points->place + POINTS_MAX;
    }
    pl_status status = PL_OK;
    for (int64_t i = 0; i < picture->ranks_drawn && status == PL_OK; i++) {
        picture->taken = picture->seen = 0;
        status = model_expand(picture->model, i * ranks / picture->ranks_drawn, model_plot_take_point, picture, error);
    }
    return status;
}

/* The largest sum of two columns, the second may be missing. */
static double model_plot_largest(const struct picture *picture, size_t column, size_t more)
{
    double most = 1;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < picture->points[i].count; k++) {
            const double *first = picture->points[i].tick; /* all columns stand behind it */
            const double value = first[column * POINTS_MAX + k] + (more ? first[more * POINTS_MAX + k] : 0);
            most = value > most ? value : most;
        }
    return most;
}

static const struct plot_style STYLES[] = {{.colour = 1, .filled = true},
                                           {.colour = 0, .marker = PLOT_SQUARE, .filled = true}};

/* An access as a line from its first to its last byte. */
static void model_plot_draw_strip(struct plot *plot, const struct points *points, struct plot_style style, double shift)
{
    for (size_t i = 0; i < points->count; i++) {
        const double x[] = {points->place[i], points->place[i] + points->size[i]};
        const double y[] = {points->rank[i] + shift, points->rank[i] + shift};
        plot_line(plot, x, y, 2, style);
    }
}

static void model_plot_draw_panels(struct plot *plot, const struct picture *picture)
{
    const struct plot_axis tick = {
        .min = 0, .max = model_plot_largest(picture, TICK, 0), .whole = true, .label = "tick"};
    const struct plot_axis offset = {
        .min = 0, .max = model_plot_largest(picture, OFFSET, SIZE), .unit = PLOT_BYTES, .label = "offset"};
    const struct plot_axis place = {
        .min = 0, .max = model_plot_largest(picture, PLACE, SIZE), .unit = PLOT_BYTES, .label = "place in the file"};
    const struct plot_axis rank = {.min = -0.5, .max = (double)picture->ranks - 0.5, .whole = true, .label = "process"};
    const struct plot_panel panels[] = {
        {.box = {90, 100, 680, 200}, .x = tick, .y = offset, .title = "Offset by logical time"},
        {.box = {90, 370, 680, 160}, .x = tick, .y = rank, .title = "Processes by logical time"},
        {.box = {90, 600, 680, 180}, .x = place, .y = rank, .title = "Spatial strip: which process is where"}};
    for (int panel = 0; panel < 3; panel++) {
        plot_panel(plot, &panels[panel]);
        for (int i = 0; i < 2; i++) {
            const struct points *points = &picture->points[i];
            if (panel == 2)
                model_plot_draw_strip(plot, points, STYLES[i], i ? 0.12 : -0.12);
            else
                plot_points(plot, points->tick, panel ? points->rank : points->offset, points->count, 2.2, STYLES[i]);
        }
    }
    plot_legend(plot, 790, 110, 0, STYLES[0], "write");
    plot_legend(plot, 790, 110, 1, STYLES[1], "read");
}

static pl_status model_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    struct picture *picture = context;
    struct plot plot;
    char title[160], subtitle[160];
    (void)error;
    snprintf(title, sizeof title, "I/O of %.80s on %" PRId64 " processes", picture->model->program,
             picture->model->ranks);
    snprintf(subtitle, sizeof subtitle, "%" PRId64 " phases; file %.80s", picture->facts->total,
             picture->facts->files[picture->file].name);
    plot_begin(&plot, stream, WIDTH, HEIGHT, title, subtitle);
    model_plot_draw_panels(&plot, picture);
    if (picture->views)
        plot_caption(
            &plot, 90, 68,
            "Offsets are those in the views of the processes; the strip shows the equivalent layout without views.");
    if (picture->left_out || picture->ranks_drawn < picture->ranks)
        plot_caption(&plot, 90, HEIGHT - 16, "Not all is drawn: the first accesses of each of some processes.");
    plot_end(&plot);
    return PL_OK;
}

pl_status model_plot(const struct model *model, const char *path, struct pl_error *error)
{
    struct model_facts facts;
    struct picture picture = {.model = model, .facts = &facts, .ranks = model->ranks};
    pl_status status = model_facts_find(model, &facts, error);
    if (status != PL_OK)
        return status;
    if (facts.file_count == 0)
        status = pl_fail(error, PL_E_INPUT, "the program opened no file: there is nothing to draw");
    for (int i = 1; i < facts.file_count; i++)
        if (facts.files[i].read_bytes + facts.files[i].written_bytes >
            facts.files[picture.file].read_bytes + facts.files[picture.file].written_bytes)
            picture.file = i;
    if (status == PL_OK)
        status = model_plot_collect(&picture, error);
    if (status == PL_OK)
        status = plot_to_file(path, model_plot_draw, &picture, error);
    free(picture.points[0].tick);
    free(picture.points[1].tick);
    model_facts_clear(&facts);
    return status;
}
