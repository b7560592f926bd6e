/* Completion for shells, made from the tables of verbs and options: whatever they know, the shell completes. */
#include "cli/cli.h"

#include <string.h>

static bool complete_is_shown(const struct option_row *row)
{
    return !(row->flags & OPTION_QUIET);
}

/* What an argument is the name of. */
enum complete_kind { COMPLETE_NOTHING, COMPLETE_WORDS, COMPLETE_FILE, COMPLETE_DIRECTORY };

static enum complete_kind complete_kind_of(const struct option_row *row)
{
    const char *argument = row->argument ? row->argument : "";
    if (row->choices)
        return COMPLETE_WORDS;
    if (strncmp(argument, "DIR", 3) == 0)
        return COMPLETE_DIRECTORY;
    return strstr(argument, "FILE") || strcmp(argument, "RUN") == 0 ? COMPLETE_FILE : COMPLETE_NOTHING;
}

static void complete_print_verbs(FILE *stream, bool benches)
{
    const char *gap = "";
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        if (!benches || (*verb)->bench) {
            fprintf(stream, "%s%s", gap, (*verb)->name);
            gap = " ";
        }
}

/* Words of the first operand, separated by blanks; false: it is a file. */
static bool complete_print_operands(const struct cli_verb *verb, FILE *stream)
{
    const char *const *words = verb->operands ? verb->operands() : NULL;
    for (size_t i = 0; words && words[i]; i++)
        fprintf(stream, "%s%s", i ? " " : "", words[i]);
    return words != NULL;
}

/* Calls `put` for each row of the verb that users are told of. */
static void complete_each(const struct cli_verb *verb, FILE *stream,
                          void (*put)(const struct cli_verb *verb, const struct option_row *row, FILE *stream))
{
    const struct option_row *tables[CLI_TABLES_MAX];
    cli_verb_tables(verb, tables);
    for (size_t t = 0; tables[t]; t++)
        for (const struct option_row *row = tables[t]; row->name; row++)
            if (complete_is_shown(row))
                put(verb, row, stream);
}

/* ---- bash ---- */

static void complete_bash_name(const struct cli_verb *verb, const struct option_row *row, FILE *stream)
{
    (void)verb;
    fprintf(stream, "--%s ", row->name);
}

/* A branch of the case over the word before the cursor. */
static void complete_bash_value(const struct cli_verb *verb, const struct option_row *row, FILE *stream)
{
    if (row->type == OPTION_FLAG)
        return;
    fprintf(stream, "        '%s --%s'", verb->name, row->name);
    if (row->letter)
        fprintf(stream, " | '%s -%c'", verb->name, row->letter);
    switch (complete_kind_of(row)) {
    case COMPLETE_WORDS:
        fprintf(stream, ") COMPREPLY=($(compgen -W '%s' -- \"$current\")) ;;\n", row->choices);
        break;
    case COMPLETE_DIRECTORY:
        fputs(") COMPREPLY=($(compgen -d -- \"$current\")) ;;\n", stream);
        break;
    case COMPLETE_FILE:
        fputs(") COMPREPLY=($(compgen -f -- \"$current\")) ;;\n", stream);
        break;
    default:
        fputs(") COMPREPLY=() ;;\n", stream);
        break;
    }
}

static void complete_bash(FILE *stream)
{
    fputs("# piolet for bash: made by 'piolet help --completion bash'.\n"
          "# shellcheck disable=SC2207  # words without blanks\n"
          "_piolet()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]-}\n"
          "    local first=2 options='' operands=''\n"
          "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    [ \"$current\" != = ] || { current=''; before=${COMP_WORDS[COMP_CWORD - 1]}; }\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stream);
    complete_print_verbs(stream, false);
    fputs(" --version --help' -- \"$current\"))\n        return\n    fi\n"
          "    if [ \"$verb\" = bench ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
          "        verb=${COMP_WORDS[2]}\n        first=3\n    fi\n"
          "    case \"$verb $before\" in\n",
          stream);
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        complete_each(*verb, stream, complete_bash_value);
    fputs("        *)\n            case $verb in\n", stream);
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++) {
        fprintf(stream, "                %s)\n                    options='", (*verb)->name);
        complete_each(*verb, stream, complete_bash_name);
        fputs("--help'\n                    operands='", stream);
        complete_print_operands(*verb, stream);
        fputs("'\n                    ;;\n", stream);
    }
    fputs("            esac\n"
          "            if [[ $current == -* ]]; then\n"
          "                COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
          "            elif [ -n \"$operands\" ] && [ \"$COMP_CWORD\" -eq \"$first\" ]; then\n"
          "                COMPREPLY=($(compgen -W \"$operands\" -- \"$current\") $(compgen -f -- \"$current\"))\n"
          "            else\n"
          "                COMPREPLY=($(compgen -f -- \"$current\"))\n"
          "            fi\n            ;;\n    esac\n}\n"
          "complete -o filenames -F _piolet piolet\n",
          stream);
}

/* ---- zsh and fish ---- */

/* The first clause of a help, without what the shells act upon. */
static void complete_print_help(const char *help, FILE *stream)
{
    for (const char *c = help; *c && *c != ';' && *c != ':' && *c != '('; c++)
        if (!strchr("'[]\\\"", *c))
            fputc(*c, stream);
}

static void complete_zsh_row(const struct cli_verb *verb, const struct option_row *row, FILE *stream)
{
    static const char *const actions[] = {
        [COMPLETE_NOTHING] = "", [COMPLETE_WORDS] = "", [COMPLETE_FILE] = "_files", [COMPLETE_DIRECTORY] = "_files -/"};
    (void)verb;
    for (int letter = 0; letter < (row->letter ? 2 : 1); letter++) {
        if (letter)
            fprintf(stream, " \\\n            '*-%c%s[", row->letter, row->type == OPTION_FLAG ? "" : "+");
        else
            fprintf(stream, " \\\n            '*--%s%s[", row->name, row->type == OPTION_FLAG ? "" : "=");
        complete_print_help(row->help, stream);
        fputc(']', stream);
        const enum complete_kind kind = complete_kind_of(row);
        if (row->type != OPTION_FLAG && kind == COMPLETE_WORDS)
            fprintf(stream, ":word:(%s)", row->choices);
        else if (row->type != OPTION_FLAG)
            fprintf(stream, ":value:%s", actions[kind]);
        fputc('\'', stream);
    }
}

static void complete_zsh(FILE *stream)
{
    fputs("#compdef piolet\n# piolet for zsh: made by 'piolet help --completion zsh'.\n"
          "_piolet()\n{\n    if ((CURRENT == 2)); then\n        compadd -- ",
          stream);
    complete_print_verbs(stream, false);
    fputs(" --version --help\n        return\n    fi\n"
          "    if [[ $words[2] == bench ]] && ((CURRENT > 3)); then\n"
          "        words=($words[1] ${words[3,-1]})\n        ((CURRENT--))\n    fi\n"
          "    local verb=$words[2]\n    words=(\"piolet-$verb\" ${words[3,-1]})\n    ((CURRENT--))\n"
          "    case $verb in\n",
          stream);
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++) {
        fprintf(stream, "        %s)\n            _arguments", (*verb)->name);
        complete_each(*verb, stream, complete_zsh_row);
        fputs(" \\\n            '--help[the options]'", stream);
        if ((*verb)->operands) {
            fputs(" \\\n            '1:word:(", stream);
            complete_print_operands(*verb, stream);
            fputs(")'", stream);
        }
        fputs(" \\\n            '*:file:_files'\n            ;;\n", stream);
    }
    fputs("    esac\n}\n_piolet \"$@\"\n", stream);
}

static void complete_fish_row(const struct cli_verb *verb, const struct option_row *row, FILE *stream)
{
    fprintf(stream, "complete -c piolet -n '__fish_seen_subcommand_from %s' -l %s", verb->name, row->name);
    if (row->letter)
        fprintf(stream, " -s %c", row->letter);
    switch (row->type == OPTION_FLAG ? COMPLETE_NOTHING : complete_kind_of(row)) {
    case COMPLETE_WORDS:
        fprintf(stream, " -x -a '%s'", row->choices);
        break;
    case COMPLETE_DIRECTORY:
        fputs(" -x -a '(__fish_complete_directories)'", stream);
        break;
    case COMPLETE_FILE:
        fputs(" -r -F", stream);
        break;
    default:
        fputs(row->type == OPTION_FLAG ? "" : " -x", stream);
        break;
    }
    fputs(" -d '", stream);
    complete_print_help(row->help, stream);
    fputs("'\n", stream);
}

static void complete_fish(FILE *stream)
{
    fputs("# piolet for fish: made by 'piolet help --completion fish'.\n", stream);
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++) {
        fprintf(stream, "complete -c piolet -n __fish_use_subcommand -f -a %s -d '", (*verb)->name);
        complete_print_help((*verb)->summary, stream);
        fputs("'\n", stream);
        if ((*verb)->operands) {
            fprintf(stream, "complete -c piolet -n '__fish_seen_subcommand_from %s' -a '", (*verb)->name);
            complete_print_operands(*verb, stream);
            fputs("'\n", stream);
        }
        complete_each(*verb, stream, complete_fish_row);
    }
}

void cli_complete(enum cli_shell shell, FILE *stream)
{
    void (*const print[])(FILE *) = {[CLI_BASH] = complete_bash, [CLI_ZSH] = complete_zsh, [CLI_FISH] = complete_fish};
    print[shell](stream);
}
