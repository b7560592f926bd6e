#include "predict/predict.h"

#include "base/statistics.h"
#include "base/units.h"
#include "lab/show/analysis_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 80 };

/* ---- words ---- */

/* Bytes that continue a character of UTF-8 have no column. */
static int predict_text_columns_of(const char *text, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

void predict_print_wrapped(FILE *stream, const char *lead, const char *words)
{
    struct text text = {0};
    const size_t indent = (size_t)predict_text_columns_of(lead, strlen(lead));
    text_add_escaped(&text, words);
    fputs(lead, stream);
    text_print_wrapped(stream, text_get(&text), indent, indent);
    text_clear(&text);
}

/* A name in a column: cut where it is too long, at a whole character. */
static void predict_print_name(FILE *stream, const char *name, int width)
{
    struct text text = {0};
    text_add_escaped(&text, name);
    const char *shown = text_get(&text);
    size_t length = text.length;
    const bool cut = predict_text_columns_of(shown, length) > width;
    while (length > 0 && predict_text_columns_of(shown, length) > width - cut)
        length--;
    while (cut && length > 0 && ((unsigned char)shown[length] & 0xc0) == 0x80)
        length--;
    fprintf(stream, "%.*s%s%*s", (int)length, shown, cut ? "~" : "",
            width - cut - predict_text_columns_of(shown, length), "");
    text_clear(&text);
}

/* ---- cells ---- */

struct table {
    FILE *stream;
    const struct prediction *prediction;
    const struct predict_configuration *configuration;
    struct analysis_time_unit unit;
};

static void predict_print_cell(const struct table *table, double value, int width)
{
    char cell[ANALYSIS_CELL_MAX];
    fprintf(table->stream, " %*s", width, analysis_cell(value, 4, cell));
}

/* All times of a table have one unit: short ones get more decimals, at most 5. */
static const char *predict_text_time_cell(const struct table *table, double ns, char cell[ANALYSIS_CELL_MAX])
{
    const double value = ns / table->unit.ns;
    if (!(value > 0 && value < 1))
        return analysis_cell(value, 4, cell);
    snprintf(cell, ANALYSIS_CELL_MAX, "%.*f", (int)fmin(5, 3 + floor(-log10(value))), value);
    return cell;
}

static void predict_print_time(const struct table *table, double ns, int width)
{
    char cell[ANALYSIS_CELL_MAX];
    fprintf(table->stream, " %*s", width, predict_text_time_cell(table, ns, cell));
}

static void predict_print_interval(const struct table *table, const struct predict_time *time)
{
    char low[ANALYSIS_CELL_MAX], high[ANALYSIS_CELL_MAX], text[2 * ANALYSIS_CELL_MAX + 4];
    snprintf(text, sizeof text, "%s - %s", predict_text_time_cell(table, time->low_ns, low),
             predict_text_time_cell(table, time->high_ns, high));
    fprintf(table->stream, " %17s", isnan(time->low_ns) ? "" : text);
}

static void predict_print_rate(const struct table *table, double bytes_per_s, int width)
{
    predict_print_cell(table, bytes_per_s / 1e6, width);
}

static double predict_text_bytes_of(const struct predict_phase *phase)
{
    return (double)phase->weight_bytes * (double)phase->count;
}

/* "40 × write_at_all". */
static void predict_print_phase(const struct table *table, const struct predict_phase *phase, int width)
{
    struct text words = {0};
    if (phase->count > 1)
        text_format(&words, "%" PRId64 " × ", phase->count);
    text_add(&words, phase->operations);
    predict_print_name(table->stream, phase->label, 9);
    fputc(' ', table->stream);
    predict_print_name(table->stream, text_get(&words), width);
    text_clear(&words);
}

/* Kinds of calls outside of phases that were replayed. */
static bool predict_text_has_calls(const struct table *table, int unit)
{
    return !isnan(table->configuration->units[unit].time.ns);
}

/* ---- the table of times: eq. 1 and 2 ---- */

static void predict_print_times(const struct table *table)
{
    const struct predict_configuration *configuration = table->configuration;
    const int phases = table->prediction->program.phase_count;
    FILE *stream = table->stream;
    fprintf(stream, "%-9s %-25s %9s %8s %6d %% interval %7s\n", "Phase", "Operations", "Bytes", "Time_io",
            STATISTICS_LEVEL_PERCENT, "BW_CH");
    fprintf(stream, "%-9s %-25s %9s %8s %17s %7s\n", "", "", "MB", table->unit.name, table->unit.name, "MB/s");
    for (int i = 0; i < phases; i++) {
        const struct predict_phase *phase = &table->prediction->program.phases[i];
        const struct predict_unit *unit = &configuration->units[i];
        predict_print_phase(table, phase, 25);
        predict_print_cell(table, predict_text_bytes_of(phase) / 1e6, 9);
        predict_print_time(table, unit->time.ns, 8);
        predict_print_interval(table, &unit->time);
        predict_print_rate(table, predict_bandwidth(predict_text_bytes_of(phase), unit->time.ns), 7);
        fputc('\n', stream);
    }
    for (int i = phases; i < predict_unit_count(table->prediction); i++) {
        if (!predict_text_has_calls(table, i))
            continue;
        predict_print_name(stream, "calls", 9);
        fputc(' ', stream);
        predict_print_name(stream, predict_unit_label(table->prediction, i), 25);
        fprintf(stream, " %9s", "");
        predict_print_time(table, configuration->units[i].time.ns, 8);
        predict_print_interval(table, &configuration->units[i].time);
        fputc('\n', stream);
    }
    fprintf(stream, "%-9s %-25s %9s", "total", "", "");
    predict_print_time(table, configuration->total.ns, 8);
    if (!isnan(configuration->total.low_ns))
        predict_print_interval(table, &configuration->total);
    fputc('\n', stream);
}

/* ---- the table of usage: eq. 3 to 5, Tables IX and X ---- */

static bool predict_text_has_peak(const struct table *table)
{
    for (int i = 0; i < table->prediction->program.phase_count; i++)
        if (!isnan(table->configuration->units[i].usage.peak))
            return true;
    return false;
}

static void predict_print_request(const struct table *table, const struct predict_phase *phase)
{
    const struct predict_access *w = &phase->access[PREDICT_WRITE], *r = &phase->access[PREDICT_READ];
    char size[UNITS_TEXT_MAX];
    fprintf(table->stream, " %10s", units_binary(w->bytes > 0 ? w->request : r->request, size));
}

static const char *predict_text_usage_remark(const struct predict_usage *usage)
{
    if (usage->range == PREDICT_BELOW)
        return "below range";
    if (usage->range == PREDICT_ABOVE)
        return "above range";
    return usage->other_access ? "sequential" : "";
}

static void predict_print_usage(const struct table *table)
{
    const bool measured = table->prediction->measured_count > 0;
    const char *name = measured ? "BW_MD" : "BW_CH";
    if (!predict_text_has_peak(table))
        return;
    fprintf(table->stream, "\n%-9s %-10s %10s %8s %8s %8s %7s  %s\n", "Phase", "Access", "Request", name, "BW_PK",
            "plain", "Usage", "Peak from");
    fprintf(table->stream, "%-9s %-10s %10s %8s %8s %8s %7s\n", "", "", "", "MB/s", "MB/s", "MB/s", "%");
    for (int i = 0; i < table->prediction->program.phase_count; i++) {
        const struct predict_phase *phase = &table->prediction->program.phases[i];
        const struct predict_unit *unit = &table->configuration->units[i];
        predict_print_name(table->stream, phase->label, 9);
        fprintf(table->stream, " %-10s", model_order_word(phase->order));
        predict_print_request(table, phase);
        predict_print_rate(
            table, predict_bandwidth(predict_text_bytes_of(phase), measured ? unit->measured.ns : unit->time.ns), 8);
        predict_print_rate(table, unit->usage.peak, 8);
        predict_print_rate(table, unit->usage.plain, 8);
        predict_print_cell(table, unit->usage.percent, 7);
        fprintf(table->stream, "%s%s\n", *predict_text_usage_remark(&unit->usage) ? "  " : "",
                predict_text_usage_remark(&unit->usage));
    }
}

/* ---- the table of errors: eq. 6 and 7, Tables XIII and XIV ---- */

static void predict_print_error_row(const struct table *table, const char *name, double bytes,
                                    const struct predict_time *time, double measured_ns, const double noise[2])
{
    const double characterised = predict_bandwidth(bytes, time->ns), measured = predict_bandwidth(bytes, measured_ns);
    predict_print_name(table->stream, name, 9);
    predict_print_time(table, time->ns, 8);
    predict_print_time(table, measured_ns, 8);
    predict_print_cell(table, predict_error_percent(time->ns, measured_ns), 7);
    if (bytes > 0) {
        predict_print_rate(table, characterised, 8);
        predict_print_rate(table, measured, 8);
        predict_print_cell(table, predict_error_percent(characterised, measured), 7);
    } else {
        fprintf(table->stream, " %8s %8s %7s", "", "", "");
    }
    predict_print_cell(table, noise[0], 8);
    predict_print_cell(table, noise[1], 8);
    fputc('\n', table->stream);
}

static void predict_print_errors(const struct table *table)
{
    const struct predict_configuration *configuration = table->configuration;
    const int phases = table->prediction->program.phase_count;
    const char *unit = table->unit.name;
    if (table->prediction->measured_count == 0)
        return;
    fprintf(table->stream, "\n%-9s %8s %8s %7s %8s %8s %7s %8s %8s\n", "Phase", "Time_CH", "Time_MD", "error", "BW_CH",
            "BW_MD", "error", "noise of", "noise of");
    fprintf(table->stream, "%-9s %8s %8s %7s %8s %8s %7s %8s %8s\n", "", unit, unit, "%", "MB/s", "MB/s", "%", "runs %",
            "replay %");
    for (int i = 0; i < phases; i++) {
        const struct predict_unit *one = &configuration->units[i];
        predict_print_error_row(table, table->prediction->program.phases[i].label,
                                predict_text_bytes_of(&table->prediction->program.phases[i]), &one->time,
                                one->measured.ns, (double[]){one->measured_noise_percent, one->noise_percent});
    }
    for (int i = phases; i < predict_unit_count(table->prediction); i++) {
        const struct predict_unit *calls = &configuration->units[i];
        if (predict_text_has_calls(table, i))
            predict_print_error_row(table, predict_unit_label(table->prediction, i), 0, &calls->time,
                                    calls->measured.ns,
                                    (double[]){calls->measured_noise_percent, calls->noise_percent});
    }
    predict_print_error_row(table, "total", 0, &configuration->total, configuration->measured.ns,
                            (double[]){configuration->measured_noise_percent, configuration->noise_percent});
}

/* ---- estimates ---- */

static void predict_print_against_replay(const struct table *table)
{
    const int phases = table->prediction->program.phase_count;
    struct predict_time sum = {0};
    double replayed = 0;
    fprintf(table->stream, "\n%-9s %-26s %10s %10s %8s\n", "Phase", "Operations", "estimate", "replay", "error");
    fprintf(table->stream, "%-9s %-26s %10s %10s %8s\n", "", "", table->unit.name, table->unit.name, "%");
    for (int i = 0; i <= phases; i++) {
        const struct predict_unit *unit = &table->configuration->units[i];
        const double ns = i < phases ? unit->time.ns : sum.ns, replay = i < phases ? unit->replay_ns : replayed;
        sum.ns += ns;
        replayed += replay;
        if (i < phases)
            predict_print_phase(table, &table->prediction->program.phases[i], 26);
        else
            fprintf(table->stream, "%-9s %-26s", "total", "");
        predict_print_time(table, ns, 10);
        predict_print_time(table, replay, 10);
        predict_print_cell(table, predict_error_percent(ns, replay), 8);
        fputc('\n', table->stream);
    }
}

static void predict_print_estimate(const struct table *table)
{
    const int phases = table->prediction->program.phase_count;
    bool compared = false;
    for (int i = 0; i < phases; i++)
        compared |= !isnan(table->configuration->units[i].replay_ns);
    if (compared)
        predict_print_against_replay(table);
    fputs("\nWhere the rates come from:\n", table->stream);
    for (int i = 0; i < phases; i++) {
        char lead[PREDICT_LABEL_MAX + 16];
        snprintf(lead, sizeof lead, "  phase %s: ", table->prediction->program.phases[i].label);
        predict_print_wrapped(table->stream, lead, table->configuration->units[i].source);
    }
    fputs("Calls outside of phases (open, close, sync) are not estimated.\n", table->stream);
}

/* ---- all ---- */

static struct table predict_text_table_of(const struct prediction *prediction,
                                          const struct predict_configuration *configuration, FILE *stream)
{
    double largest = configuration->total.ns;
    for (int i = 0; i < prediction->program.phase_count && isnan(largest); i++)
        largest = configuration->units[i].time.ns;
    return (struct table){stream, prediction, configuration, analysis_time_unit(isnan(largest) ? 1e9 : largest)};
}

static const char ONE_REPETITION[] = "One repetition: its interval does not tell how runs differ.\n";

static void predict_print_configuration(const struct prediction *prediction,
                                        const struct predict_configuration *configuration, FILE *stream)
{
    const struct table table = predict_text_table_of(prediction, configuration, stream);
    struct text head = {0};
    text_format(&head, "%s", configuration->label);
    if (!configuration->estimate)
        text_format(&head, " (%d repetition%s)", configuration->run_count, configuration->run_count == 1 ? "" : "s");
    predict_print_wrapped(stream, "", text_get(&head));
    text_clear(&head);
    predict_print_times(&table);
    if (configuration->failure)
        predict_print_wrapped(stream, "no total: ", configuration->failure);
    if (configuration->estimate) {
        predict_print_estimate(&table);
        return;
    }
    if (configuration->run_count == 1)
        fputs(ONE_REPETITION, stream);
    predict_print_usage(&table);
    predict_print_errors(&table);
}

void predict_print(const struct prediction *prediction, FILE *stream)
{
    for (int i = 0; i < prediction->configuration_count; i++) {
        if (i > 0)
            fputc('\n', stream);
        predict_print_configuration(prediction, &prediction->configurations[i], stream);
    }
}

static void predict_print_rank(const struct table *table, const struct predict_configuration *one, double best_ns)
{
    char place[16] = "-";
    if (one->place > 0)
        snprintf(place, sizeof place, "%d%s", one->place, *one->tie_with ? " tie" : "");
    fprintf(table->stream, "%-5s", place);
    predict_print_time(table, one->total.ns, 8);
    predict_print_interval(table, &one->total);
    predict_print_cell(table, one->total.ns / best_ns, 8);
    predict_print_wrapped(table->stream,
                          predict_text_columns_of(one->label, strlen(one->label)) > 36 ? "\n      " : "  ", one->label);
}

void predict_print_ranks(const struct prediction *prediction, FILE *stream)
{
    if (prediction->configuration_count == 0)
        return;
    const struct table table = predict_text_table_of(prediction, &prediction->configurations[0], stream);
    fprintf(stream, "%-5s %8s %6d %% interval %8s  %s\n", "Place", "Time_io", STATISTICS_LEVEL_PERCENT, "of best",
            "Configuration");
    fprintf(stream, "%-5s %8s %17s\n", "", table.unit.name, table.unit.name);
    for (int i = 0; i < prediction->configuration_count; i++)
        predict_print_rank(&table, &prediction->configurations[i], prediction->configurations[0].total.ns);
    bool alone = false;
    for (int i = 0; i < prediction->configuration_count; i++)
        alone |= prediction->configurations[i].run_count == 1;
    if (alone)
        fputs(ONE_REPETITION, stream);
    fputc('\n', stream);
    for (int i = 0; i < prediction->configuration_count; i++) {
        const struct predict_configuration *one = &prediction->configurations[i];
        struct text words = {0};
        text_format(&words, "%s: %s%s", one->label, one->place ? "" : "not ranked, ",
                    one->failure  ? one->failure
                    : one->reason ? one->reason
                                  : "it is not measured");
        predict_print_wrapped(stream, "- ", text_get(&words));
        text_clear(&words);
    }
}
