/* A survey from its first step to the page. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "base/path.h"
#include "base/process.h"
#include "base/units.h"
#include "survey/survey.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_MAX = PATH_MAX + 64, SPARE_S = 300 };

static const struct survey_step PAGE = {
    .name = "report", .title = "the page", .verb = "report", .seconds = {0.5, 0.5, 60}};

struct survey {
    const struct survey_request *request;
    struct survey_places places;
    FILE *list; /* steps.txt: what was run, and how it went */
    bool on_terminal;
    bool made_results, made_out; /* the directories that were not there before */
    int failed;
    int number, count;      /* of the step under way, from 1; of all */
    double planned, passed; /* seconds: of the steps that are over, by the table and really */
    double left;            /* of those to come, by the table */
    const struct survey_step *step;
};

/* ---- one step as a process ---- */

enum survey_end { SURVEY_WELL, SURVEY_FAILED, SURVEY_TOO_LONG, SURVEY_INTERRUPTED, SURVEY_NOT_STARTED };

struct survey_outcome {
    enum survey_end end;
    int status; /* exit status, or 128 + signal */
    double seconds;
};

enum { SURVEY_MESSAGE_MAX = 512 };

static const double TICK_S = 0.5;

struct survey_process {
    const struct survey_command *command;
    const char *log;
};

static void survey_become(void *context)
{
    const struct survey_process *step = context;
    const int null = open("/dev/null", O_RDONLY);
    const int file = open(step->log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
    if (null < 0 || file < 0)
        _exit(EXIT_FAILURE);
    dup2(null, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execv(step->command->words[0], step->command->words);
    dprintf(STDERR_FILENO, "%s: %s\n", step->command->words[0], strerror(errno));
    _exit(EXIT_FAILURE);
}

/* Runs the command with its output in `log`, and calls `tick` twice a second. Signals and the limit end it with all its
 * processes. */
static struct survey_outcome survey_child_run(const struct survey_command *command, const char *log, double limit_s,
                                              void (*tick)(void *context, double elapsed_s), void *context)
{
    struct survey_outcome outcome = {.end = SURVEY_NOT_STARTED};
    struct process child = {.is_piolet = true};
    struct survey_process step = {command, log};
    const double began = clock_now_s();
    if (!process_start(&child, true, survey_become, &step))
        return outcome;
    outcome.end = SURVEY_WELL;
    while (!process_ended(&child)) {
        const double elapsed = clock_now_s() - began;
        tick(context, elapsed);
        const int number = process_wait(TICK_S);
        if (number || elapsed > limit_s) {
            outcome.end = number ? SURVEY_INTERRUPTED : SURVEY_TOO_LONG;
            process_end(&child);
        }
    }
    outcome.seconds = clock_now_s() - began;
    outcome.status = child.status;
    if (outcome.end == SURVEY_WELL && outcome.status != 0)
        outcome.end = SURVEY_FAILED;
    return outcome;
}

/* ---- what a step says about its failure, out of all that it printed ---- */

/* "piolet VERB: TEXT", where it begins; NULL: the line says nothing of the kind, or no more than a warning. It may
 * stand behind a part of a table, since the two streams of a process meet in its log anywhere. */
static const char *survey_message_in(const char *line)
{
    static const char mark[] = "piolet ", letters[] = "abcdefghijklmnopqrstuvwxyzMPIO-";
    for (const char *at = line; (at = strstr(at, mark)); at++) {
        const char *end = at + strlen(mark);
        end += strspn(end, letters);
        if ((at > line && at[-1] != ' ') || (*end != ':' && *end != ','))
            continue;
        if (strncmp(end, ": warning:", 10) != 0 && strncmp(end, ": note:", 7) != 0)
            return at;
    }
    return NULL;
}

/* The first message of a verb in what a step printed, or else its last line; "": it printed nothing. */
static void survey_message(const char *log, char message[SURVEY_MESSAGE_MAX])
{
    FILE *stream = fopen(log, "r");
    char line[SURVEY_MESSAGE_MAX];
    const char *found = NULL;
    message[0] = '\0';
    while (stream && !found && fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        found = survey_message_in(line);
        if (found || line[strspn(line, " \t")])
            snprintf(message, SURVEY_MESSAGE_MAX, "%s", found ? found : line);
    }
    if (stream)
        fclose(stream);
}

/* ---- messages ---- */

static void survey_complain(const struct survey *survey, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void survey_complain(const struct survey *survey, const char *format, ...)
{
    char text[LOG_MAX + 1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (survey->on_terminal)
        survey->request->clear_line();
    survey->request->complain(text);
}

/* ---- places ---- */

static bool survey_make_default_output(struct survey *survey)
{
    char name[64];
    clock_format("%Y-%m-%dT%H%M%SZ", 1, name, sizeof name);
    survey->made_results = mkdir("results", 0777) == 0;
    bool made = survey->made_results || errno == EEXIST;
    for (int i = 1; made && i < 100; i++) {
        if (i == 1)
            snprintf(survey->places.out, PATH_MAX, "results/%s", name);
        else
            snprintf(survey->places.out, PATH_MAX, "results/%s-%d", name, i);
        survey->made_out = mkdir(survey->places.out, 0777) == 0;
        if (survey->made_out)
            return true;
        made = errno == EEXIST;
    }
    survey_complain(survey, "cannot make a directory in 'results': %s", strerror(errno));
    return false;
}

static bool survey_make_output(struct survey *survey)
{
    const char *name = survey->request->output;
    if (!name)
        return survey_make_default_output(survey);
    snprintf(survey->places.out, PATH_MAX, "%s", name);
    survey->made_out = mkdir(name, 0777) == 0;
    if (survey->made_out || errno == EEXIST)
        return true;
    survey_complain(survey, "cannot make the directory '%s': %s", name, strerror(errno));
    return false;
}

/* All test files go there, so that a step that was killed leaves none behind. */
static bool survey_make_work(struct survey *survey)
{
    const char *in = survey->request->directory ? survey->request->directory : survey->places.out;
    snprintf(survey->places.work, PATH_MAX, "%.*s/piolet-survey.XXXXXX", PATH_MAX - 32, in);
    if (interrupt_mkdtemp(survey->places.work))
        return true;
    survey->places.work[0] = '\0';
    survey_complain(survey, "cannot write into '%s': %s", in, strerror(errno));
    return false;
}

static bool survey_write_text(struct survey *survey, const char *name,
                              void (*make)(const struct survey_request *, struct text *))
{
    char path[LOG_MAX];
    struct text text = {0};
    make(survey->request, &text);
    snprintf(path, sizeof path, "%s/%s", survey->places.out, name);
    FILE *stream;
    struct pl_error error;
    pl_status status = output_open(path, &stream, &error);
    if (status == PL_OK) {
        fputs(text_get(&text), stream); /* the commit tells */
        status = output_commit(&error);
    }
    if (status != PL_OK)
        survey_complain(survey, "%s", error.text);
    text_clear(&text);
    return status == PL_OK;
}

static bool survey_prepare(struct survey *survey)
{
    char path[LOG_MAX];
    if (!survey_make_output(survey) || !survey_make_work(survey))
        return false;
    snprintf(path, sizeof path, "%s/steps.txt", survey->places.out);
    survey->list = fopen(path, "wxe"); /* the directory is new or empty */
    if (!survey->list)
        survey_complain(survey, "cannot write '%s': %s", path, strerror(errno));
    return survey->list && survey_write_text(survey, "curves.in", survey_curves) &&
           survey_write_text(survey, "kernels.in", survey_kernels);
}

/* A survey that cannot begin leaves nothing behind. */
static void survey_take_back(struct survey *survey)
{
    static const char *const names[] = {"steps.txt", "curves.in", "kernels.in"};
    char path[LOG_MAX];
    for (size_t i = 0; survey->list && i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", survey->places.out, names[i]);
        unlink(path);
    }
    if (survey->list)
        fclose(survey->list);
    if (survey->places.work[0])
        rmdir(survey->places.work);
    if (survey->made_out)
        rmdir(survey->places.out);
    if (survey->made_results)
        rmdir("results");
}

/* ---- one step ---- */

static double survey_planned_s(const struct survey *survey, const struct survey_step *step)
{
    return step->seconds[survey->request->form];
}

static void survey_show_progress(void *context, double elapsed_s)
{
    const struct survey *survey = context;
    if (!survey->on_terminal)
        return;
    char left[UNITS_TEXT_MAX];
    const double pace = survey->planned > 5 ? survey->passed / survey->planned : 1;
    const double step = survey->step->seconds[survey->request->form] * pace - elapsed_s;
    units_duration((step > 0 ? step : 0) + survey->left * pace, left);
    survey->request->clear_line();
    fprintf(stderr, "[%d/%d] %s, %.0f s; about %s left", survey->number, survey->count, survey->step->title, elapsed_s,
            left);
}

static void survey_tell_outcome(struct survey *survey, const struct survey_step *step, const char *log,
                                const struct survey_outcome *outcome)
{
    static const char *const words[] = {[SURVEY_WELL] = "well",
                                        [SURVEY_FAILED] = "failed",
                                        [SURVEY_TOO_LONG] = "took too long and was ended",
                                        [SURVEY_INTERRUPTED] = "interrupted",
                                        [SURVEY_NOT_STARTED] = "could not be started"};
    char message[SURVEY_MESSAGE_MAX];
    assert(outcome->end < sizeof words / sizeof words[0] && survey->list);
    fprintf(survey->list, "%s: %s, %.1f s, exit status %d\n", step->name, words[outcome->end], outcome->seconds,
            outcome->status);
    fflush(survey->list);
    if (outcome->end == SURVEY_WELL || outcome->end == SURVEY_INTERRUPTED)
        return;
    survey_message(log, message);
    survey_complain(survey, "the step '%s' (%s) %s%s%s\n  All that it printed is in '%s'.", step->name, step->title,
                    words[outcome->end], message[0] ? ":\n  " : "", message, log);
    survey->failed++;
}

static bool survey_is_ready(struct survey *survey, const struct survey_step *step)
{
    char path[LOG_MAX];
    const char *why = NULL;
    snprintf(path, sizeof path, "%s/%s", survey->places.out, step->needs ? step->needs : "");
    if (step->needs && access(path, R_OK) != 0)
        why = "left out: what it needs is missing";
    if (why)
        fprintf(survey->list, "%s: %s\n", step->name, why);
    return !why;
}

static void survey_run_step(struct survey *survey, const struct survey_step *step)
{
    const double seconds = survey_planned_s(survey, step);
    char log[LOG_MAX];
    struct survey_command command = {0};
    struct text text = {0};
    survey->step = step;
    survey->left -= seconds;
    assert(survey->number >= 1 && survey->number <= survey->count && survey->left > -0.001);
    if (!survey_is_ready(survey, step))
        return;
    snprintf(log, sizeof log, "%s/%s.txt", survey->places.out, step->name);
    survey_step_command(step, survey->request, &survey->places, &command);
    survey_command_text(&command, &text);
    fprintf(survey->list, "%s: %s\n", step->name, text_get(&text));
    text_clear(&text);
    /* A machine may be twenty times slower than ours, a disk that others use slower still; what takes longer hangs. */
    const struct survey_outcome outcome = survey_child_run(&command, log, SPARE_S + 20 * seconds, survey_show_progress,
                                                           survey);
    survey_tell_outcome(survey, step, log, &outcome);
    survey->planned += seconds;
    survey->passed += outcome.seconds;
    survey_command_clear(&command);
}

static void survey_run_steps(struct survey *survey)
{
    for (const struct survey_step *step = survey_steps(); step->name && !process_signal(); step++)
        if (survey_step_wanted(step, survey->request)) {
            survey->number++;
            survey_run_step(survey, step);
        }
    remove_quietly(survey->places.work);
    interrupt_keep(survey->places.work);
}

/* ---- the page ---- */

static int survey_is_result(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".out") == 0 || strcmp(dot, ".model") == 0);
}

/* All results that are there, be it a part of them. */
static void survey_make_page(struct survey *survey)
{
    char log[LOG_MAX], path[LOG_MAX];
    struct dirent **names = NULL;
    struct survey_command command = {0};
    const int count = scandir(survey->places.out, &names, survey_is_result, alphasort);
    survey->step = &PAGE;
    survey->left = 0;
    survey_command_add(&command, survey->places.self);
    survey_command_add(&command, "report");
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%.*s/%.60s", PATH_MAX, survey->places.out, names[i]->d_name);
        survey_command_add(&command, path);
        free(names[i]);
    }
    free(names);
    snprintf(path, sizeof path, "%s/report.html", survey->places.out);
    survey_command_add(&command, "-o");
    survey_command_add(&command, path);
    snprintf(log, sizeof log, "%s/report.txt", survey->places.out);
    if (count > 0) {
        const struct survey_outcome outcome = survey_child_run(&command, log, 600, survey_show_progress, survey);
        survey_tell_outcome(survey, &PAGE, log, &outcome);
        survey->passed += outcome.seconds;
    }
    survey_command_clear(&command);
}

/* ---- the end ---- */

static void survey_print_file(const char *path)
{
    char buffer[4096];
    size_t length;
    FILE *stream = fopen(path, "r");
    while (stream && (length = fread(buffer, 1, sizeof buffer, stream)) > 0)
        fwrite(buffer, 1, length, stdout);
    if (stream)
        fclose(stream);
}

static void survey_summarize(struct survey *survey)
{
    char path[LOG_MAX];
    struct pl_error error;
    snprintf(path, sizeof path, "%s/summary.txt", survey->places.out);
    FILE *stream;
    pl_status status = output_open(path, &stream, &error);
    if (status == PL_OK)
        status = survey_summary(survey->places.out, stream, &error);
    if (status == PL_OK)
        status = output_commit(&error);
    if (status == PL_OK)
        survey_print_file(path);
    else
        survey_complain(survey, "no summary: %s", error.text);
}

static void survey_tell_end(const struct survey *survey)
{
    const char *out = survey->places.out;
    char page[LOG_MAX];
    snprintf(page, sizeof page, "%s/report.html", out);
    if (!process_signal() && survey->request->form != SURVEY_FULL)
        printf("\nThe long form takes the time that the documents ask for: piolet survey --full\n");
    printf("To compare over time: piolet history add %s/*.out\n", out);
    printf("Took %.0f s. Results, with what each step printed: %s/\n", survey->passed, out);
    if (access(page, R_OK) == 0)
        printf("The page: %s\n", page);
}

/* ---- all ---- */

static void survey_count_steps(struct survey *survey)
{
    for (const struct survey_step *step = survey_steps(); step->name; step++)
        if (survey_step_wanted(step, survey->request)) {
            survey->count++;
            survey->left += survey_planned_s(survey, step);
        }
    survey->left += survey_planned_s(survey, &PAGE);
}

static int survey_dry_run(struct survey *survey)
{
    char total[UNITS_TEXT_MAX];
    snprintf(survey->places.out, PATH_MAX, "%s", survey->request->output ? survey->request->output : "results/TIME");
    snprintf(survey->places.work, PATH_MAX, "%.*s/piolet-survey.XXXXXX", PATH_MAX - 32,
             survey->request->directory ? survey->request->directory : survey->places.out);
    for (const struct survey_step *step = survey_steps(); step->name; step++) {
        struct survey_command command = {0};
        struct text text = {0};
        if (!survey_step_wanted(step, survey->request))
            continue;
        survey_step_command(step, survey->request, &survey->places, &command);
        survey_command_text(&command, &text);
        printf("%-13s %6.1f s  %s\n    %s\n", step->name, step->seconds[survey->request->form], step->title,
               text_get(&text));
        text_clear(&text);
        survey_command_clear(&command);
    }
    printf("In all about %s on an idle machine.\n", units_duration(survey->left, total));
    return EXIT_SUCCESS;
}

static int survey_square_of(int ranks)
{
    int side = 2;
    while ((side + 1) * (side + 1) <= ranks)
        side++;
    return side * side;
}

int survey_run(const struct survey_request *request)
{
    struct survey survey = {.request = request, .on_terminal = isatty(STDERR_FILENO)};
    assert(request->ranks > 0 && request->complain && request->clear_line);
    survey.places.ranks = request->ranks;
    survey.places.square = survey_square_of(request->ranks);
    if (!process_self(survey.places.self)) {
        survey_complain(&survey, "cannot find my own program file: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    survey_count_steps(&survey);
    if (request->dry_run)
        return survey_dry_run(&survey);
    process_take_signals();
    if (!survey_prepare(&survey)) {
        survey_take_back(&survey);
        return EXIT_FAILURE;
    }
    char about[UNITS_TEXT_MAX];
    fprintf(stderr, "Surveying %s on %d ranks of %s; this takes about %s on an idle machine.\n",
            request->directory ? request->directory : survey.places.out, request->ranks, PIOLET_MPI_NAME,
            units_duration(survey.left, about));
    survey_run_steps(&survey);
    survey_make_page(&survey);
    if (survey.on_terminal)
        request->clear_line();
    fclose(survey.list);
    survey_summarize(&survey);
    survey_tell_end(&survey);
    if (!process_signal())
        return survey.failed ? EXIT_FAILURE : EXIT_SUCCESS;
    fflush(stdout);
    survey_complain(&survey, "interrupted; what was measured is kept in '%s', the rest was not measured",
                    survey.places.out);
    return 128 + process_signal();
}
