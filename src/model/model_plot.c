/* Three panels with two of the three axes process, tick, offset each: when it happens (tick × offset), who takes part
 * (tick × process), and the spatial strip (offset × process). Writes and reads have a colour each. */
#include "model/model_plot.h"

#include "measure/plot.h"
#include "model/model_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static bool take_point(void *context, const struct model_event *event)
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

static pl_status collect(struct picture *picture, struct pl_error *error)
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
        status = model_expand(picture->model, i * ranks / picture->ranks_drawn, take_point, picture, error);
    }
    return status;
}

/* The largest sum of two columns, the second may be missing. */
static double largest(const struct picture *picture, size_t column, size_t more)
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
static void draw_strip(struct plot *plot, const struct points *points, struct plot_style style, double shift)
{
    for (size_t i = 0; i < points->count; i++) {
        const double x[] = {points->place[i], points->place[i] + points->size[i]};
        const double y[] = {points->rank[i] + shift, points->rank[i] + shift};
        plot_line(plot, x, y, 2, style);
    }
}

static void draw_panels(struct plot *plot, const struct picture *picture)
{
    const struct plot_axis tick = {.min = 0, .max = largest(picture, TICK, 0), .whole = true, .label = "tick"};
    const struct plot_axis offset = {
        .min = 0, .max = largest(picture, OFFSET, SIZE), .unit = PLOT_BYTES, .label = "offset"};
    const struct plot_axis place = {
        .min = 0, .max = largest(picture, PLACE, SIZE), .unit = PLOT_BYTES, .label = "place in the file"};
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
                draw_strip(plot, points, STYLES[i], i ? 0.12 : -0.12);
            else
                plot_points(plot, points->tick, panel ? points->rank : points->offset, points->count, 2.2, STYLES[i]);
        }
    }
    plot_legend(plot, 790, 110, 0, STYLES[0], "write");
    plot_legend(plot, 790, 110, 1, STYLES[1], "read");
}

static pl_status draw(void *context, FILE *stream, struct pl_error *error)
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
    draw_panels(&plot, picture);
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
        status = collect(&picture, error);
    if (status == PL_OK)
        status = plot_to_file(path, draw, &picture, error);
    free(picture.points[0].tick);
    free(picture.points[1].tick);
    model_facts_clear(&facts);
    return status;
}
