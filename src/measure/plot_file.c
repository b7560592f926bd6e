/* Where a plot goes: an SVG file, or a PNG file by way of rsvg-convert. */
#include "measure/plot.h"

#include "base/interrupt.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pl_status draw_and_close(FILE *stream, const char *path, plot_draw *draw, void *context, struct pl_error *error)
{
    const pl_status status = draw(context, stream, error);
    const int failed = ferror(stream) ? EIO : 0;
    const int closed = fclose(stream) != 0 ? errno : 0;
    if (status == PL_OK && (failed || closed))
        return pl_fail_errno(error, closed ? closed : failed, "writing '%s'", path);
    return status;
}

/* argv is never seen by a shell: a file name may hold anything. */
static pl_status convert(const char *svg, const char *png, struct pl_error *error)
{
    char *argv[] = {(char *)"rsvg-convert",
                    (char *)"--format=png",
                    (char *)"--zoom=1.5",
                    (char *)"--output",
                    (char *)png,
                    (char *)svg,
                    NULL};
    pid_t pid;
    const int failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (failed == ENOENT)
        return pl_fail(error, PL_E_UNSUPPORTED,
                       "cannot write '%s': PNG needs the program rsvg-convert (package librsvg2-bin); name the plot "
                       "*.svg to do without it",
                       png);
    int status = 0;
    if (failed)
        return pl_fail_errno(error, failed, "starting rsvg-convert");
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return pl_fail_errno(error, errno, "waiting for rsvg-convert");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return pl_fail(error, PL_E_SYSTEM, "cannot write '%s': rsvg-convert failed", png);
    return PL_OK;
}

static pl_status draw_png(const char *path, plot_draw *draw, void *context, struct pl_error *error)
{
    const char *folder = getenv("TMPDIR");
    char name[512];
    snprintf(name, sizeof name, "%s/piolet-plot-XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = interrupt_mkstemp(name);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!stream)
        return pl_fail_errno(error, errno, "creating a temporary file '%s'", name);
    pl_status status = draw_and_close(stream, name, draw, context, error);
    if (status == PL_OK)
        status = convert(name, path, error);
    unlink(name);
    interrupt_keep(name);
    return status;
}

pl_status plot_to_file(const char *path, plot_draw *draw, void *context, struct pl_error *error)
{
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".png") == 0)
        return draw_png(path, draw, context, error);
    FILE *stream = fopen(path, "w");
    if (!stream)
        return pl_fail_errno(error, errno, "opening '%s' for a plot", path);
    return draw_and_close(stream, path, draw, context, error);
}
