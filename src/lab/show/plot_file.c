/* Where a plot goes: an SVG file, or a PNG file by way of rsvg-convert. */
#include "lab/show/plot.h"

#include "base/interrupt.h"
#include "base/output.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Into a file of its own, so that what goes wrong with the output is told by us, and in our words. */
static pl_status plot_convert(FILE *svg, FILE *png, struct pl_error *error)
{
    static const char *const words[] = {"rsvg-convert", "--format=png", "--zoom=1.5", NULL};
    FILE *drawn = plot_temporary(error);
    if (!drawn)
        return error->status;
    pl_status status = lseek(fileno(svg), 0, SEEK_SET) == 0 ? PL_OK
                                                            : pl_fail_errno(error, errno, "reading what was drawn");
    if (status == PL_OK)
        status = process_run(words, fileno(svg), fileno(drawn), -1, error);
    if (status == PL_E_UNSUPPORTED)
        pl_fail(error, PL_E_UNSUPPORTED,
                "PNG needs the program rsvg-convert (package librsvg2-bin); name the plot *.svg to do without it");
    rewind(drawn);
    char buffer[65536];
    for (size_t length; status == PL_OK && (length = fread(buffer, 1, sizeof buffer, drawn)) > 0;)
        fwrite(buffer, 1, length, png); /* finishing it tells */
    if (status == PL_OK && ferror(drawn))
        status = pl_fail_errno(error, errno, "reading what rsvg-convert made");
    fclose(drawn);
    return status;
}

static pl_status plot_draw_png(FILE *png, plot_draw *draw, void *context, struct pl_error *error)
{
    FILE *svg = plot_temporary(error);
    if (!svg)
        return error->status;
    pl_status status = draw(context, svg, error);
    if (status == PL_OK && (fflush(svg) != 0 || ferror(svg)))
        status = pl_fail_errno(error, errno, "drawing into a temporary file");
    if (status == PL_OK)
        status = plot_convert(svg, png, error);
    fclose(svg);
    return status;
}

FILE *plot_temporary(struct pl_error *error)
{
    const char *folder = getenv("TMPDIR");
    char name[512];
    snprintf(name, sizeof name, "%s/piolet-plot-XXXXXX", folder && *folder ? folder : "/tmp");
    interrupt_hold();
    const int fd = mkostemp(name, O_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!stream)
        pl_fail_errno(error, errno, "creating a temporary file '%s'", name);
    if (fd >= 0)
        unlink(name); /* at once: nothing is left of a process that is killed */
    interrupt_release();
    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

pl_status plot_to_file(const char *path, plot_draw *draw, void *context, struct pl_error *error)
{
    const size_t length = strlen(path);
    const bool png = length > 4 && strcmp(path + length - 4, ".png") == 0;
    FILE *stream;
    if (output_open(path, &stream, error) != PL_OK)
        return error->status;
    if ((png ? plot_draw_png(stream, draw, context, error) : draw(context, stream, error)) != PL_OK)
        return pl_within(error, "drawing '%s'", path);
    return output_finish(stream, error);
}
