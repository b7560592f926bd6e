/* What a step says about its failure, out of all that it printed. */
#include "cli/survey.h"

#include <string.h>

/* "piolet VERB: TEXT", where it begins; NULL: the line says nothing of the kind, or no more than a warning. It may
 * stand behind a part of a table, since the two streams of a process meet in its log anywhere. */
static const char *message_in(const char *line)
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

void survey_message(const char *log, char message[SURVEY_MESSAGE_MAX])
{
    FILE *stream = fopen(log, "r");
    char line[SURVEY_MESSAGE_MAX];
    const char *found = NULL;
    message[0] = '\0';
    while (stream && !found && fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        found = message_in(line);
        if (found || line[strspn(line, " \t")])
            snprintf(message, SURVEY_MESSAGE_MAX, "%s", found ? found : line);
    }
    if (stream)
        fclose(stream);
}
