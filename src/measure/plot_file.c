/* Where a plot goes: an SVG file, or a PNG file by way of rsvg-convert. */
#include "measure/plot.h"

#include "base/interrupt.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* argv is never seen by a shell: a file name may hold anything. */
static pl_status start_converter(int svg, int png, pid_t *ret_pid, struct pl_error *error)
{
    char *argv[] = {(char *)"rsvg-convert", (char *)"--format=png", (char *)"--zoom=1.5", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, svg, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, png, STDOUT_FILENO);
    const int failed = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        return pl_fail(error, PL_E_UNSUPPORTED,
                       "PNG needs the program rsvg-convert (package librsvg2-bin); name the plot *.svg to do without "
                       "it");
    return failed ? pl_fail_errno(error, failed, "starting rsvg-convert") : PL_OK;
}

static pl_status convert(int svg, int png, struct pl_error *error)
{
    pid_t pid;
    int status = 0;
    if (lseek(svg, 0, SEEK_SET) != 0)
        return pl_fail_errno(error, errno, "reading what was drawn");
    if (start_converter(svg, png, &pid, error) != PL_OK)
        return error->status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return pl_fail_errno(error, errno, "waiting for rsvg-convert");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return pl_fail(error, PL_E_SYSTEM, "rsvg-convert failed");
    return PL_OK;
}

static pl_status draw_png(FILE *png, plot_draw *draw, void *context, struct pl_error *error)
{
    FILE *svg = plot_temporary(error);
    if (!svg)
        return error->status;
    pl_status status = draw(context, svg, error);
    if (status == PL_OK && (fflush(svg) != 0 || ferror(svg)))
        status = pl_fail_errno(error, errno, "drawing into a temporary file");
    if (status == PL_OK)
        status = convert(fileno(svg), fileno(png), error);
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
    if ((png ? draw_png(stream, draw, context, error) : draw(context, stream, error)) != PL_OK)
        return pl_within(error, "drawing '%s'", path);
    return output_finish(stream, error);
}
