#include "cli/cli_wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 };

void cli_wrap(const char *text, int column, int indent)
{
    bool first = true;
    while (*(text += strspn(text, " \n"))) {
        const int length = (int)strcspn(text, " \n");
        if (column + !first + length > WIDTH && (!first || column > indent)) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        first = false;
    }
    putchar('\n');
}

int cli_wrap_cell(const char *text, int column, int width)
{
    const int length = (int)strlen(text);
    const int filled = length + 2 > width ? length + 2 : width;
    printf("%s%*s", text, filled - length, "");
    return column + filled;
}
