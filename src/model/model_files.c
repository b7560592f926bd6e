#include "model/model_fold.h"

#include "base/array.h"
#include "base/rng.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is said once ---- */

uint64_t model_hash_text(const char *text)
{
    uint64_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        hash = (hash ^ *c) * 0x100000001b3u;
    return rng_mix(hash);
}

void model_pool_clear(struct model_pool *pool)
{
    for (size_t i = 0; i < pool->capacity; i++)
        free(pool->slots[i]);
    free(pool->slots);
    free(pool->layouts);
    free(pool->fresh);
    *pool = (struct model_pool){0};
}

/* Where `word` stands, or the free place where it would. */
static size_t pool_place(char **slots, size_t capacity, const char *word)
{
    size_t at = model_hash_text(word) & (capacity - 1);
    while (slots[at] && strcmp(slots[at], word) != 0)
        at = (at + 1) & (capacity - 1);
    return at;
}

static bool pool_grow(struct model_pool *pool)
{
    const size_t capacity = pool->capacity ? 2 * pool->capacity : 64;
    char **slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < pool->capacity; i++)
        if (pool->slots[i])
            slots[pool_place(slots, capacity, pool->slots[i])] = pool->slots[i];
    free(pool->slots);
    pool->slots = slots;
    pool->capacity = capacity;
    return true;
}

/* The pool's copy of `word`; NULL when memory is short. */
static const char *model_pool_word(struct model_pool *pool, const char *word)
{
    if (2 * pool->count >= pool->capacity && !pool_grow(pool))
        return NULL;
    const size_t at = pool_place(pool->slots, pool->capacity, word);
    if (!pool->slots[at]) {
        pool->slots[at] = strdup(word);
        pool->count += pool->slots[at] != NULL;
    }
    return pool->slots[at];
}

/* ---- layouts ---- */

enum { LAYOUT_MAX = 16 << 10, LAYOUTS_MAX = 1 << 20 }; /* bytes of one, and of all */

static int64_t pool_find_layout(const struct model_pool *pool, const char *word)
{
    for (int64_t i = 0; i < pool->layout_count; i++)
        if (pool->layouts[i] == word)
            return i + 1;
    return 0;
}

/* The number of a layout, from 1; 0 when memory is short. One that is not known whole ("..."), or that is too long, has
 * the number of all that are not told. */
static int64_t model_pool_layout(struct model_pool *pool, const char *layout)
{
    const size_t length = strlen(layout);
    const char *word = length > LAYOUT_MAX || strstr(layout, "...") ? NULL : model_pool_word(pool, layout);
    int64_t number = pool_find_layout(pool, word);
    if (!number && word && pool->layout_bytes + (int64_t)length > LAYOUTS_MAX)
        number = pool_find_layout(pool, word = NULL);
    if (number)
        return number;
    const char **layouts = realloc(pool->layouts, (size_t)(pool->layout_count + 1) * sizeof *layouts);
    if (!layouts)
        return 0;
    pool->layouts = layouts;
    pool->layout_bytes += word ? (int64_t)length : 0;
    layouts[pool->layout_count++] = word;
    return pool->layout_count;
}

/* ---- buffers ---- */

bool model_pool_add_fresh(struct model_pool *pool, const char *form, const struct trace_file *file)
{
    int i = 0;
    while (i < pool->fresh_count && pool->fresh[i].form != form)
        i++;
    if (i == pool->fresh_count) {
        struct model_fresh *fresh = realloc(pool->fresh, (size_t)(i + 1) * sizeof *fresh);
        if (!fresh)
            return false;
        pool->fresh = fresh;
        fresh[pool->fresh_count++] = (struct model_fresh){.form = form};
    }
    pool->fresh[i].read_bytes += (double)file->fresh_read_bytes;
    pool->fresh[i].written_bytes += (double)file->fresh_written_bytes;
    pool->fresh[i].unlinked |= file->unlinked;
    return true;
}

/* ---- forms ---- */

enum { DIGITS_MAX = 18 }; /* as many as surely fit 64 bits; longer ones stay text */

static void model_form_clear(struct model_form *form)
{
    text_clear(&form->text);
    free(form->numbers);
    *form = (struct model_form){0};
}

static void pool_add_number(struct model_form *form, int64_t number)
{
    if (!ARRAY_ROOM(form->numbers, form->count, form->capacity, 16)) {
        form->failed = true;
        return;
    }
    form->numbers[form->count++] = number;
}

static void pool_add_slot(struct model_form *form)
{
    const char slot = MODEL_SLOT;
    text_append(&form->text, &slot, 1);
}

static void pool_add_text(struct model_form *form, const char *bytes, size_t length)
{
    static const char literal = MODEL_LITERAL;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == MODEL_SLOT || bytes[i] == MODEL_LITERAL)
            text_append(&form->text, &literal, 1);
        text_append(&form->text, bytes + i, 1);
    }
}

bool model_form_step(const char **at, const char **ret_literal)
{
    const bool is_slot = **at == MODEL_SLOT;
    *at += **at == MODEL_LITERAL && (*at)[1];
    *ret_literal = (*at)++;
    return is_slot;
}

/* Appends the name of a file: each run of digits gives two numbers, its value and how many digits it has. */
static void model_form_add_name(struct model_form *form, const char *name)
{
    while (*name) {
        const size_t digits = strspn(name, "0123456789");
        if (digits > 0 && digits <= DIGITS_MAX) {
            pool_add_number(form, strtoll(name, NULL, 10));
            pool_add_number(form, (int64_t)digits);
            pool_add_slot(form);
        } else {
            pool_add_text(form, name, digits ? digits : 1);
        }
        name += digits ? digits : 1;
    }
    form->failed |= form->text.failed;
}

/* The length of a hint at `c`, which is kept as it is; 0: there is none. */
static size_t pool_hint_length(const char *detail, const char *c)
{
    if ((c != detail && c[-1] != ' ') || strncmp(c, "hint.", 5) != 0)
        return 0;
    size_t length = strcspn(c, "\" ");
    if (c[length] == '"')
        length += 2 + strcspn(c + length + 1, "\"");
    return length < strlen(c) ? length : strlen(c);
}

/* The length of a number at `c`; 0 for one that is part of a word, or that would not be written the same again. */
static size_t pool_number_length(const char *detail, const char *c)
{
    if (c != detail && (isalnum((unsigned char)c[-1]) || strchr("_.", c[-1])))
        return 0;
    const char *first = c + (*c == '-');
    const size_t digits = strspn(first, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || (*first == '0' && (digits > 1 || first > c)))
        return 0;
    return (size_t)(first - c) + digits;
}

/* Appends "KEY=VALUE" pairs: each number gives one. What is part of a word, of a hint, or begins with zeros stays text.
 */
static void model_form_add_detail(struct model_form *form, const char *detail)
{
    for (const char *c = detail; *c;) {
        const size_t hint = pool_hint_length(detail, c), number = pool_number_length(detail, c);
        if (hint || !number) {
            pool_add_text(form, c, hint ? hint : 1);
            c += hint ? hint : 1;
            continue;
        }
        pool_add_number(form, strtoll(c, NULL, 10));
        pool_add_slot(form);
        c += number;
    }
    form->failed |= form->text.failed;
}

/* ---- files and memory of a rank ---- */

bool model_files_begin(struct model_files *files, const struct trace_tree *tree, struct model_pool *pool)
{
    *files = (struct model_files){.tree = tree, .pool = pool, .table_size = 16};
    while (files->table_size < 2 * (size_t)tree->file_count)
        files->table_size *= 2;
    files->files = calloc((size_t)tree->file_count + 1, sizeof *files->files);
    files->table = calloc(files->table_size, sizeof *files->table);
    files->layouts = calloc((size_t)tree->detail_count + 1, sizeof *files->layouts);
    return files->files && files->table && files->layouts;
}

void model_files_clear(struct model_files *files)
{
    for (int i = 0; i < files->name_count; i++) {
        free(files->names[i].name);
        free(files->names[i].uses);
    }
    free(files->names);
    free(files->files);
    free(files->table);
    free(files->forms);
    free(files->layouts);
    *files = (struct model_files){0};
}

/* The entry of a name, made where there is none; -1 when memory is short. */
static int files_find_name(struct model_files *files, const char *name)
{
    size_t at = model_hash_text(name) & (files->table_size - 1);
    for (; files->table[at]; at = (at + 1) & (files->table_size - 1))
        if (strcmp(files->names[files->table[at] - 1].name, name) == 0)
            return files->table[at] - 1;
    if (!ARRAY_ROOM(files->names, files->name_count, files->name_capacity, 8))
        return -1;
    files->names[files->name_count] = (struct model_name){.name = strdup(name)};
    if (!files->names[files->name_count].name)
        return -1;
    files->table[at] = ++files->name_count;
    return files->name_count - 1;
}

/* Counts one more name of this form: -1 when memory is short. */
static int64_t files_next_instance(struct model_files *files, const char *form)
{
    for (int i = 0; i < files->form_count; i++)
        if (files->forms[i].form == form)
            return files->forms[i].count++;
    struct model_form_count *forms = realloc(files->forms, (size_t)(files->form_count + 1) * sizeof *forms);
    if (!forms)
        return -1;
    files->forms = forms;
    forms[files->form_count++] = (struct model_form_count){form, 1};
    return 0;
}

/* A name that is open already is opened once more: its form is told apart by how many handles there are. */
static const char *files_make_form(struct model_files *files, const char *name, int handles)
{
    struct model_form form = {0};
    model_form_add_name(&form, name);
    if (handles > 0)
        text_format(&form.text, "#%d", handles + 1);
    const char *word = form.failed || form.text.failed ? NULL : model_pool_word(files->pool, text_get(&form.text));
    model_form_clear(&form);
    return word;
}

static bool files_note_open(struct model_files *files, int file)
{
    struct model_file_state *state = &files->files[file];
    const int entry = files_find_name(files, files->tree->files[file].name);
    if (entry < 0)
        return false;
    struct model_name *name = &files->names[entry];
    const int level = name->open;
    if (level == name->use_count) {
        struct model_name_use *uses = realloc(name->uses, (size_t)(level + 1) * sizeof *uses);
        if (!uses)
            return false;
        name->uses = uses;
        uses[level].form = files_make_form(files, name->name, level);
        uses[level].instance = uses[level].form ? files_next_instance(files, uses[level].form) : -1;
        if (uses[level].instance < 0)
            return false;
        name->use_count++;
    }
    *state = (struct model_file_state){name->uses[level].form, name->uses[level].instance, entry, 1, false};
    name->open++;
    return true;
}

static int64_t files_number_behind(const char *text, const char *key, int64_t otherwise)
{
    const size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at += length)
        if ((at == text || at[-1] == ' ') && at[length] == '=')
            return strtoll(at + length + 1, NULL, 10);
    return otherwise;
}

static void files_note_view(struct model_file_state *state, const char *detail)
{
    const int64_t size = files_number_behind(detail, "size", files_number_behind(detail, "filetype_bytes", 0));
    const int64_t extent = files_number_behind(detail, "extent", files_number_behind(detail, "filetype_extent", size));
    state->etype_bytes = files_number_behind(detail, "etype_bytes", 1);
    state->holes = size != extent;
}

static const struct {
    int bit;
    const char *word;
} MODES[] = {{1, "create"},           {64, "excl"},        {2, "rdonly"},
             {4, "wronly"},           {8, "rdwr"},         {128, "append"},
             {16, "delete_on_close"}, {32, "unique_open"}, {256, "sequential"}};

/* What open was given: mode, communicator, and the hints, which the detail has. */
static void files_write_open(struct text *text, const struct trace_file *file, const char *detail)
{
    text_add(text, "amode=");
    const char *between = "";
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++)
        if (file->amode & MODES[i].bit) {
            text_format(text, "%s%s", between, MODES[i].word);
            between = "|";
        }
    text_format(text, " ranks=%d first=%d", file->ranks, file->first_rank);
    if (file->members) {
        text_add(text, " members=");
        for (int i = 0; i < file->ranks; i++)
            text_format(text, "%s%d", i ? "," : "", file->members[i]);
    } else if (file->ranks > 1) {
        text_format(text, " stride=%d", file->world_stride);
    }
    for (const char *hint = detail; (hint = strstr(hint, "hint.")); hint += 5)
        if (hint == detail || hint[-1] == ' ') {
            size_t length = strcspn(hint, "\" ");
            if (hint[length] == '"')
                length += 2 + strcspn(hint + length + 1, "\"");
            text_add(text, " ");
            text_append(text, hint, length < strlen(hint) ? length : strlen(hint));
        }
}

/* Fills the forms of the item, and appends their numbers to `form`. */
static bool files_make_forms(struct model_files *files, const struct trace_node *node, struct model_form *form,
                             struct model_call *call)
{
    const char *detail = node->detail >= 0 ? files->tree->details[node->detail].text : "";
    struct model_form rest = {0};
    const bool opens = strcmp(node->class, "open") == 0 && node->file >= 0;
    bool ok = true;
    if (opens) {
        struct text text = {0};
        model_form_add_name(form, files->tree->files[node->file].name);
        files_write_open(&text, &files->tree->files[node->file], detail);
        model_form_add_detail(&rest, text_get(&text));
        ok = !text.failed && (call->name = model_pool_word(files->pool, text_get(&form->text)));
        text_clear(&text);
    } else if (!call->access) {
        model_form_add_detail(&rest, detail);
    }
    ok = ok && !rest.failed && !form->failed && (call->text = model_pool_word(files->pool, text_get(&rest.text)));
    int64_t *numbers = realloc(form->numbers, (form->count + rest.count + 1) * sizeof *numbers);
    if (numbers) {
        form->numbers = numbers;
        for (size_t i = 0; i < rest.count; i++)
            numbers[form->count++] = rest.numbers[i];
    }
    model_form_clear(&rest);
    return ok && numbers;
}

/* How an access lies in memory is a number like its offset: ranks and turns with other layouts are the same phase. */
static bool files_find_memory(struct model_files *files, const struct trace_node *node, int64_t *ret_number)
{
    static const char key[] = "memory=\"";
    *ret_number = node->detail >= 0 ? files->layouts[node->detail] : 0;
    if (node->detail < 0 || *ret_number)
        return true;
    const char *detail = files->tree->details[node->detail].text;
    if (strncmp(detail, key, sizeof key - 1) != 0)
        return true;
    detail += sizeof key - 1;
    char *layout = strndup(detail, strcspn(detail, "\""));
    *ret_number = files->layouts[node->detail] = layout ? model_pool_layout(files->pool, layout) : 0;
    free(layout);
    return *ret_number > 0;
}

static const char *files_word_or_null(struct model_pool *pool, const char *word, bool *ok)
{
    const char *kept = word ? model_pool_word(pool, word) : NULL;
    *ok = *ok && (!word || kept);
    return kept;
}

static uint64_t files_hash_call(const struct model_call *call, int64_t bytes)
{
    const void *const words[] = {call->function, call->class, call->who,  call->how,
                                 call->position, call->file,  call->name, call->text};
    uint64_t hash = rng_at((uint64_t)call->etype_bytes, (uint64_t)bytes);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = rng_at(hash, (uint64_t)(uintptr_t)words[i]);
    return rng_at(hash, (uint64_t)call->holes * 2 + call->access);
}

/* What happens to the file by this call. */
static bool files_note_call(struct model_files *files, const struct trace_node *node)
{
    struct model_file_state *state = &files->files[node->file];
    if (strcmp(node->class, "open") == 0)
        return files_note_open(files, node->file);
    if (strcmp(node->class, "view") == 0 && node->detail >= 0)
        files_note_view(state, files->tree->details[node->detail].text);
    if (strcmp(node->class, "close") == 0 && state->form && files->names[state->entry].open > 0)
        files->names[state->entry].open--;
    return true;
}

bool model_files_call(struct model_files *files, const struct trace_node *node, struct model_item *ret_item)
{
    bool ok = node->file < 0 || files_note_call(files, node);
    const struct model_file_state *state = node->file >= 0 ? &files->files[node->file] : NULL;
    struct model_form form = {0};
    struct model_item item = {.kind = MODEL_CALL};
    struct model_call *call = &item.call;
    call->function = files_word_or_null(files->pool, node->function, &ok);
    call->class = files_word_or_null(files->pool, node->class, &ok);
    call->who = files_word_or_null(files->pool, node->who, &ok);
    call->how = files_word_or_null(files->pool, node->how, &ok);
    call->position = files_word_or_null(files->pool, node->position, &ok);
    call->access = node->bytes >= 0 && (strcmp(node->class, "read") == 0 || strcmp(node->class, "write") == 0);
    if (state) {
        call->file = state->form;
        call->etype_bytes = call->access ? state->etype_bytes : 0;
        call->holes = call->access && state->holes;
    }
    int64_t memory = 0;
    ok = ok && files_make_forms(files, node, &form, call) && (!call->access || files_find_memory(files, node, &memory));
    if (ok) {
        item.hash = files_hash_call(call, node->bytes);
        item.shape = call->access ? files_hash_call(call, -2) : item.hash;
        item.params = calloc(form.count + MODEL_PARAM_FORMS, sizeof *item.params);
        item.param_count = item.params ? (int)form.count + MODEL_PARAM_FORMS : 0;
        ok = item.params && model_seq_add(&item.params[MODEL_PARAM_INSTANCE], state ? state->instance : 0) &&
             model_seq_add(&item.params[MODEL_PARAM_MEMORY], memory) &&
             model_seq_add(&item.params[MODEL_PARAM_SIZE], node->bytes);
        for (size_t i = 0; i < form.count && ok; i++)
            ok = model_seq_add(&item.params[MODEL_PARAM_FORMS + i], form.numbers[i]);
    }
    model_form_clear(&form);
    if (ok)
        *ret_item = item;
    else
        model_item_clear(&item);
    return ok;
}
