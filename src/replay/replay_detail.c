#include "replay/replay_detail.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

bool replay_field_next(const char **at, struct replay_field *ret_field)
{
    *ret_field = (struct replay_field){0};
    const char *from = *at + strspn(*at, " ");
    const char *equals = strchr(from, '=');
    if (!equals)
        return false;
    const bool quoted = equals[1] == '"';
    const char *value = equals + 1 + quoted;
    const size_t length = strcspn(value, quoted ? "\"" : " ");
    ret_field->key = strndup(from, (size_t)(equals - from));
    ret_field->value = strndup(value, length);
    *at = value + length + (quoted && value[length] == '"');
    if (ret_field->key && ret_field->value && text_unescape(ret_field->key) && text_unescape(ret_field->value))
        return true;
    replay_field_clear(ret_field);
    return false;
}

void replay_field_clear(struct replay_field *field)
{
    free(field->key);
    free(field->value);
    *field = (struct replay_field){0};
}

char *replay_detail_text(const char *detail, const char *key)
{
    struct replay_field field;
    while (replay_field_next(&detail, &field)) {
        char *value = strcmp(field.key, key) == 0 ? text_dup(field.value) : NULL;
        replay_field_clear(&field);
        if (value)
            return value;
    }
    return NULL;
}

int64_t replay_detail_number(const char *detail, const char *key, int64_t otherwise)
{
    int64_t number = otherwise;
    char *text = replay_detail_text(detail, key);
    if (text && !units_parse_int(text, INT64_MIN, INT64_MAX, &number))
        number = otherwise;
    free(text);
    return number;
}

/* ---- open ---- */

static const struct {
    const char *word;
    enum replay_mode bit;
} MODES[] = {{"create", REPLAY_CREATE},
             {"excl", REPLAY_EXCL},
             {"rdonly", REPLAY_RDONLY},
             {"wronly", REPLAY_WRONLY},
             {"rdwr", REPLAY_RDWR},
             {"append", REPLAY_APPEND},
             {"delete_on_close", REPLAY_DELETE_ON_CLOSE},
             {"unique_open", REPLAY_UNIQUE_OPEN},
             {"sequential", REPLAY_SEQUENTIAL}};

static pl_status parse_modes(const char *detail, int *ret_amode, struct pl_error *error)
{
    char *text = replay_detail_text(detail, "amode"), *rest = NULL;
    pl_status status = text ? PL_OK : pl_fail(error, PL_E_FORMAT, "open: amode= is missing in with=\"%s\"", detail);
    *ret_amode = 0;
    for (char *word = text ? strtok_r(text, "|", &rest) : NULL; word && status == PL_OK;
         word = strtok_r(NULL, "|", &rest)) {
        int bit = 0;
        for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++)
            bit |= strcmp(MODES[i].word, word) == 0 ? (int)MODES[i].bit : 0;
        if (!bit)
            status = pl_fail(error, PL_E_FORMAT,
                             "open: '%s' is no mode of access; allowed: create, excl, rdonly, "
                             "wronly, rdwr, append, delete_on_close, unique_open, sequential",
                             word);
        *ret_amode |= bit;
    }
    free(text);
    return status;
}

static pl_status parse_members(const char *detail, struct replay_open *open, struct pl_error *error)
{
    char *text = replay_detail_text(detail, "members"), *rest = NULL;
    if (!text)
        return PL_OK;
    open->members = calloc((size_t)open->ranks + 1, sizeof *open->members);
    int count = 0;
    pl_status status = open->members ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory");
    for (char *word = strtok_r(text, ",", &rest); word && status == PL_OK; word = strtok_r(NULL, ",", &rest)) {
        int64_t rank;
        if (count == open->ranks || !units_parse_int(word, 0, INT32_MAX, &rank))
            status = pl_fail(error, PL_E_FORMAT, "open: members= must be %d ranks", open->ranks);
        else
            open->members[count++] = (int)rank;
    }
    if (status == PL_OK && count != open->ranks)
        status = pl_fail(error, PL_E_FORMAT, "open: members= must be %d ranks", open->ranks);
    free(text);
    return status;
}

int replay_open_member(const struct replay_open *open, int i)
{
    return open->members ? open->members[i] : open->first + i * open->stride;
}

static pl_status check_members(const struct replay_open *open, int rank, int world, struct pl_error *error)
{
    bool found = false;
    for (int i = 0; i < open->ranks; i++) {
        const int member = replay_open_member(open, i);
        if (member < 0 || member >= world)
            return pl_fail(error, PL_E_FORMAT, "open: its communicator has rank %d; there are the ranks 0 to %d",
                           member, world - 1);
        found |= member == rank;
    }
    return found
               ? PL_OK
               : pl_fail(error, PL_E_FORMAT, "open: rank %d opens a file with a communicator that it is not in", rank);
}

pl_status replay_open_parse(const char *detail, int rank, int world, struct replay_open *ret_open,
                            struct pl_error *error)
{
    struct replay_open open = {0};
    const int64_t ranks = replay_detail_number(detail, "ranks", world),
                  first = replay_detail_number(detail, "first", 0), stride = replay_detail_number(detail, "stride", 1);
    *ret_open = open;
    if (ranks < 1 || ranks > world || first < 0 || first >= world || stride < -world || stride > world)
        return pl_fail(error, PL_E_FORMAT, "open: ranks=%lld first=%lld stride=%lld is no communicator of %d ranks",
                       (long long)ranks, (long long)first, (long long)stride, world);
    open.ranks = (int)ranks;
    open.first = (int)first;
    open.stride = (int)stride;
    pl_status status = parse_modes(detail, &open.amode, error);
    if (status == PL_OK)
        status = parse_members(detail, &open, error);
    if (status == PL_OK)
        status = check_members(&open, rank, world, error);
    if (status == PL_OK)
        *ret_open = open;
    else
        replay_open_clear(&open);
    return status;
}

void replay_open_clear(struct replay_open *open)
{
    free(open->members);
    open->members = NULL;
}
