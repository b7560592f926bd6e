/* A survey from its first step to the page. */
#include "base/interrupt.h"
#include "base/output.h"
#include "base/remove.h"
#include "base/units.h"
#include "cli/cli_child.h"
#include "cli/cli_screen.h"
#include "cli/cli_target.h"
#include "cli/survey.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

static void complain(const struct survey *survey, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void complain(const struct survey *survey, const char *format, ...)
{
    char text[LOG_MAX + 1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (survey->on_terminal)
        cli_screen_clear_line();
    cli_complain(survey->request->verb, "%s", text);
}

/* ---- places ---- */

static bool make_default_output(struct survey *survey)
{
    char name[64];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(name, sizeof name, "%Y-%m-%dT%H%M%SZ", gmtime_r(&now, &utc));
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
    complain(survey, "cannot make a directory in 'results': %s", strerror(errno));
    return false;
}

static bool make_output(struct survey *survey)
{
    const char *name = survey->request->output;
    if (!name)
        return make_default_output(survey);
    snprintf(survey->places.out, PATH_MAX, "%s", name);
    survey->made_out = mkdir(name, 0777) == 0;
    if (survey->made_out || errno == EEXIST)
        return true;
    complain(survey, "cannot make the directory '%s': %s", name, strerror(errno));
    return false;
}

/* All test files go there, so that a step that was killed leaves none behind. */
static bool make_work(struct survey *survey)
{
    const char *in = survey->request->directory ? survey->request->directory : survey->places.out;
    snprintf(survey->places.work, PATH_MAX, "%.*s/piolet-survey.XXXXXX", PATH_MAX - 32, in);
    if (interrupt_mkdtemp(survey->places.work))
        return true;
    survey->places.work[0] = '\0';
    complain(survey, "cannot write into '%s': %s", in, strerror(errno));
    return false;
}

static bool write_text(struct survey *survey, const char *name,
                       void (*make)(const struct survey_request *, struct text *))
{
    char path[LOG_MAX];
    struct text text = {0};
    make(survey->request, &text);
    snprintf(path, sizeof path, "%s/%s", survey->places.out, name);
    FILE *stream;
    struct pl_error error;
    pl_status status = text.failed ? pl_fail(&error, PL_E_NOMEM, "not enough memory for '%s'", path)
                                   : output_open(path, &stream, &error);
    if (status == PL_OK) {
        fputs(text_get(&text), stream); /* the commit tells */
        status = output_commit(&error);
    }
    if (status != PL_OK)
        complain(survey, "%s", error.text);
    text_clear(&text);
    return status == PL_OK;
}

static bool prepare(struct survey *survey)
{
    char path[LOG_MAX];
    if (!make_output(survey) || !make_work(survey))
        return false;
    snprintf(path, sizeof path, "%s/steps.txt", survey->places.out);
    survey->list = fopen(path, "wxe"); /* the directory is new or empty */
    if (!survey->list)
        complain(survey, "cannot write '%s': %s", path, strerror(errno));
    return survey->list && write_text(survey, "curves.in", survey_curves) &&
           write_text(survey, "kernels.in", survey_kernels);
}

/* A survey that cannot begin leaves nothing behind. */
static void take_back(struct survey *survey)
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

/* What the table says; nothing for a verb that is not in this build. */
static double planned_s(const struct survey *survey, const struct survey_step *step)
{
    return cli_verb_find(step->verb) ? step->seconds[survey->request->form] : 0;
}

static void show_progress(void *context, double elapsed_s)
{
    const struct survey *survey = context;
    if (!survey->on_terminal)
        return;
    char left[UNITS_TEXT_MAX];
    const double pace = survey->planned > 5 ? survey->passed / survey->planned : 1;
    const double step = survey->step->seconds[survey->request->form] * pace - elapsed_s;
    units_duration((step > 0 ? step : 0) + survey->left * pace, left);
    cli_screen_clear_line();
    fprintf(stderr, "[%d/%d] %s, %.0f s; about %s left", survey->number, survey->count, survey->step->title, elapsed_s,
            left);
}

static void tell_outcome(struct survey *survey, const struct survey_step *step, const char *log,
                         const struct survey_outcome *outcome)
{
    static const char *const words[] = {[SURVEY_WELL] = "well",
                                        [SURVEY_FAILED] = "failed",
                                        [SURVEY_TOO_LONG] = "took too long and was ended",
                                        [SURVEY_INTERRUPTED] = "interrupted",
                                        [SURVEY_NOT_STARTED] = "could not be started"};
    char message[SURVEY_MESSAGE_MAX];
    fprintf(survey->list, "%s: %s, %.1f s, exit status %d\n", step->name, words[outcome->end], outcome->seconds,
            outcome->status);
    fflush(survey->list);
    if (outcome->end == SURVEY_WELL || outcome->end == SURVEY_INTERRUPTED)
        return;
    survey_message(log, message);
    complain(survey, "the step '%s' (%s) %s%s%s\n  All that it printed is in '%s'.", step->name, step->title,
             words[outcome->end], message[0] ? ":\n  " : "", message, log);
    survey->failed++;
}

static bool is_ready(struct survey *survey, const struct survey_step *step)
{
    char path[LOG_MAX];
    const char *why = NULL;
    snprintf(path, sizeof path, "%s/%s", survey->places.out, step->needs ? step->needs : "");
    if (!cli_verb_find(step->verb))
        why = "not in this build";
    else if (step->needs && access(path, R_OK) != 0)
        why = "left out: what it needs is missing";
    if (why)
        fprintf(survey->list, "%s: %s\n", step->name, why);
    return !why;
}

static void run_step(struct survey *survey, const struct survey_step *step)
{
    const double seconds = planned_s(survey, step);
    char log[LOG_MAX];
    struct survey_command command = {0};
    struct text text = {0};
    survey->step = step;
    survey->left -= seconds;
    if (!is_ready(survey, step))
        return;
    snprintf(log, sizeof log, "%s/%s.txt", survey->places.out, step->name);
    survey_step_command(step, survey->request, &survey->places, &command);
    survey_command_text(&command, &text);
    fprintf(survey->list, "%s: %s\n", step->name, text_get(&text));
    text_clear(&text);
    /* A machine may be twenty times slower than ours, a disk that others use slower still; what takes longer hangs. */
    struct survey_outcome outcome = {.end = SURVEY_NOT_STARTED};
    if (!command.failed)
        outcome = survey_child_run(&command, log, SPARE_S + 20 * seconds, show_progress, survey);
    tell_outcome(survey, step, log, &outcome);
    survey->planned += seconds;
    survey->passed += outcome.seconds;
    survey_command_clear(&command);
}

static void run_steps(struct survey *survey)
{
    for (const struct survey_step *step = SURVEY_STEPS; step->name && !cli_child_signal(); step++)
        if (survey_step_wanted(step, survey->request)) {
            survey->number++;
            run_step(survey, step);
        }
    remove_quietly(survey->places.work);
    interrupt_keep(survey->places.work);
}

/* ---- the page ---- */

static int is_result(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".out") == 0 || strcmp(dot, ".model") == 0);
}

/* All results that are there, be it a part of them. */
static void make_page(struct survey *survey)
{
    char log[LOG_MAX], path[LOG_MAX];
    struct dirent **names = NULL;
    struct survey_command command = {0};
    const int count = scandir(survey->places.out, &names, is_result, alphasort);
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
    if (!cli_verb_find("report")) {
        fprintf(survey->list, "report: not in this build\n");
    } else if (count > 0 && !command.failed) {
        const struct survey_outcome outcome = survey_child_run(&command, log, 600, show_progress, survey);
        tell_outcome(survey, &PAGE, log, &outcome);
        survey->passed += outcome.seconds;
    }
    survey_command_clear(&command);
}

/* ---- the end ---- */

static void print_file(const char *path)
{
    char buffer[4096];
    size_t length;
    FILE *stream = fopen(path, "r");
    while (stream && (length = fread(buffer, 1, sizeof buffer, stream)) > 0)
        fwrite(buffer, 1, length, stdout);
    if (stream)
        fclose(stream);
}

static void summarize(struct survey *survey)
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
        print_file(path);
    else
        complain(survey, "no summary: %s", error.text);
}

static void tell_end(const struct survey *survey)
{
    const char *out = survey->places.out;
    char page[LOG_MAX];
    snprintf(page, sizeof page, "%s/report.html", out);
    if (!cli_child_signal() && survey->request->form != SURVEY_FULL)
        printf("\nThe long form takes the time that the documents ask for: piolet survey --full\n");
    printf("To compare over time: piolet history add %s/*.out\n", out);
    printf("Took %.0f s. Results, with what each step printed: %s/\n", survey->passed, out);
    if (access(page, R_OK) == 0)
        printf("The page: %s\n", page);
}

/* ---- all ---- */

static void count_steps(struct survey *survey)
{
    for (const struct survey_step *step = SURVEY_STEPS; step->name; step++)
        if (survey_step_wanted(step, survey->request)) {
            survey->count++;
            survey->left += planned_s(survey, step);
        }
    survey->left += planned_s(survey, &PAGE);
}

static int dry_run(struct survey *survey)
{
    char total[UNITS_TEXT_MAX];
    snprintf(survey->places.out, PATH_MAX, "%s", survey->request->output ? survey->request->output : "results/TIME");
    snprintf(survey->places.work, PATH_MAX, "%.*s/piolet-survey.XXXXXX", PATH_MAX - 32,
             survey->request->directory ? survey->request->directory : survey->places.out);
    for (const struct survey_step *step = SURVEY_STEPS; step->name; step++) {
        struct survey_command command = {0};
        struct text text = {0};
        if (!survey_step_wanted(step, survey->request))
            continue;
        survey_step_command(step, survey->request, &survey->places, &command);
        survey_command_text(&command, &text);
        printf("%-13s %6.1f s  %s%s\n    %s\n", step->name, step->seconds[survey->request->form], step->title,
               cli_verb_find(step->verb) ? "" : " (not in this build)", text_get(&text));
        text_clear(&text);
        survey_command_clear(&command);
    }
    printf("In all about %s on an idle machine.\n", units_duration(survey->left, total));
    return CLI_OK;
}

static int square_of(int ranks)
{
    int side = 2;
    while ((side + 1) * (side + 1) <= ranks)
        side++;
    return side * side;
}

int survey_shell(const struct survey_request *request)
{
    struct survey survey = {.request = request, .on_terminal = isatty(STDERR_FILENO)};
    survey.places.ranks = request->ranks;
    survey.places.square = square_of(request->ranks);
    if (!cli_target_self(survey.places.self)) {
        complain(&survey, "cannot find my own program file: %s", strerror(errno));
        return CLI_FAILED;
    }
    count_steps(&survey);
    if (request->dry_run)
        return dry_run(&survey);
    cli_child_take_signals();
    if (!prepare(&survey)) {
        take_back(&survey);
        return CLI_FAILED;
    }
    char about[UNITS_TEXT_MAX];
    fprintf(stderr, "Surveying %s on %d ranks of %s; this takes about %s on an idle machine.\n",
            request->directory ? request->directory : survey.places.out, request->ranks, PIOLET_MPI_NAME,
            units_duration(survey.left, about));
    run_steps(&survey);
    make_page(&survey);
    if (survey.on_terminal)
        cli_screen_clear_line();
    fclose(survey.list);
    summarize(&survey);
    tell_end(&survey);
    if (!cli_child_signal())
        return survey.failed ? CLI_FAILED : CLI_OK;
    fflush(stdout);
    complain(&survey, "interrupted; what was measured is kept in '%s', the rest was not measured", survey.places.out);
    return 128 + cli_child_signal();
}
