#include "model/model_files.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
static int find_name(struct model_files *files, const char *name)
{
    size_t at = model_hash_text(name) & (files->table_size - 1);
    for (; files->table[at]; at = (at + 1) & (files->table_size - 1))
        if (strcmp(files->names[files->table[at] - 1].name, name) == 0)
            return files->table[at] - 1;
    if (files->name_count == files->name_capacity) {
        const int capacity = files->name_capacity ? 2 * files->name_capacity : 8;
        struct model_name *names = realloc(files->names, (size_t)capacity * sizeof *names);
        if (!names)
            return -1;
        files->names = names;
        files->name_capacity = capacity;
    }
    files->names[files->name_count] = (struct model_name){.name = strdup(name)};
    if (!files->names[files->name_count].name)
        return -1;
    files->table[at] = ++files->name_count;
    return files->name_count - 1;
}

/* Counts one more name of this form: -1 when memory is short. */
static int64_t next_instance(struct model_files *files, const char *form)
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
static const char *make_form(struct model_files *files, const char *name, int handles)
{
    struct model_form form = {0};
    model_form_add_name(&form, name);
    if (handles > 0)
        text_format(&form.text, "#%d", handles + 1);
    const char *word = form.failed || form.text.failed ? NULL : model_pool_word(files->pool, text_get(&form.text));
    model_form_clear(&form);
    return word;
}

static bool note_open(struct model_files *files, int file)
{
    struct model_file_state *state = &files->files[file];
    const int entry = find_name(files, files->tree->files[file].name);
    if (entry < 0)
        return false;
    struct model_name *name = &files->names[entry];
    const int level = name->open;
    if (level == name->use_count) {
        struct model_name_use *uses = realloc(name->uses, (size_t)(level + 1) * sizeof *uses);
        if (!uses)
            return false;
        name->uses = uses;
        uses[level].form = make_form(files, name->name, level);
        uses[level].instance = uses[level].form ? next_instance(files, uses[level].form) : -1;
        if (uses[level].instance < 0)
            return false;
        name->use_count++;
    }
    *state = (struct model_file_state){name->uses[level].form, name->uses[level].instance, entry, 1, false};
    name->open++;
    return true;
}

static int64_t number_behind(const char *text, const char *key, int64_t otherwise)
{
    const size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at += length)
        if ((at == text || at[-1] == ' ') && at[length] == '=')
            return strtoll(at + length + 1, NULL, 10);
    return otherwise;
}

static void note_view(struct model_file_state *state, const char *detail)
{
    const int64_t size = number_behind(detail, "size", number_behind(detail, "filetype_bytes", 0));
    const int64_t extent = number_behind(detail, "extent", number_behind(detail, "filetype_extent", size));
    state->etype_bytes = number_behind(detail, "etype_bytes", 1);
    state->holes = size != extent;
}

static const struct {
    int bit;
    const char *word;
} MODES[] = {{1, "create"},           {64, "excl"},        {2, "rdonly"},
             {4, "wronly"},           {8, "rdwr"},         {128, "append"},
             {16, "delete_on_close"}, {32, "unique_open"}, {256, "sequential"}};

/* What open was given: mode, communicator, and the hints, which the detail has. */
static void write_open(struct text *text, const struct trace_file *file, const char *detail)
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
static bool make_forms(struct model_files *files, const struct trace_node *node, struct model_form *form,
                       struct model_call *call)
{
    const char *detail = node->detail >= 0 ? files->tree->details[node->detail].text : "";
    struct model_form rest = {0};
    const bool opens = strcmp(node->class, "open") == 0 && node->file >= 0;
    bool ok = true;
    if (opens) {
        struct text text = {0};
        model_form_add_name(form, files->tree->files[node->file].name);
        write_open(&text, &files->tree->files[node->file], detail);
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
static bool find_memory(struct model_files *files, const struct trace_node *node, int64_t *ret_number)
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

static const char *word_or_null(struct model_pool *pool, const char *word, bool *ok)
{
    const char *kept = word ? model_pool_word(pool, word) : NULL;
    *ok = *ok && (!word || kept);
    return kept;
}

static uint64_t hash_call(const struct model_call *call, int64_t bytes)
{
    const void *const words[] = {call->function, call->class, call->who,  call->how,
                                 call->position, call->file,  call->name, call->text};
    uint64_t hash = rng_at((uint64_t)call->etype_bytes, (uint64_t)bytes);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = rng_at(hash, (uint64_t)(uintptr_t)words[i]);
    return rng_at(hash, (uint64_t)call->holes * 2 + call->access);
}

/* What happens to the file by this call. */
static bool note_call(struct model_files *files, const struct trace_node *node)
{
    struct model_file_state *state = &files->files[node->file];
    if (strcmp(node->class, "open") == 0)
        return note_open(files, node->file);
    if (strcmp(node->class, "view") == 0 && node->detail >= 0)
        note_view(state, files->tree->details[node->detail].text);
    if (strcmp(node->class, "close") == 0 && state->form && files->names[state->entry].open > 0)
        files->names[state->entry].open--;
    return true;
}

bool model_files_call(struct model_files *files, const struct trace_node *node, struct model_item *ret_item)
{
    bool ok = node->file < 0 || note_call(files, node);
    const struct model_file_state *state = node->file >= 0 ? &files->files[node->file] : NULL;
    struct model_form form = {0};
    struct model_item item = {.kind = MODEL_CALL, .bytes = node->bytes};
    struct model_call *call = &item.call;
    call->function = word_or_null(files->pool, node->function, &ok);
    call->class = word_or_null(files->pool, node->class, &ok);
    call->who = word_or_null(files->pool, node->who, &ok);
    call->how = word_or_null(files->pool, node->how, &ok);
    call->position = word_or_null(files->pool, node->position, &ok);
    call->access = node->bytes >= 0 && (strcmp(node->class, "read") == 0 || strcmp(node->class, "write") == 0);
    if (state) {
        call->file = state->form;
        call->etype_bytes = call->access ? state->etype_bytes : 0;
        call->holes = call->access && state->holes;
    }
    int64_t memory = 0;
    ok = ok && make_forms(files, node, &form, call) && (!call->access || find_memory(files, node, &memory));
    if (ok) {
        item.hash = hash_call(call, item.bytes);
        item.params = calloc(form.count + MODEL_PARAM_FORMS, sizeof *item.params);
        item.param_count = item.params ? (int)form.count + MODEL_PARAM_FORMS : 0;
        ok = item.params && model_seq_add(&item.params[MODEL_PARAM_INSTANCE], state ? state->instance : 0) &&
             model_seq_add(&item.params[MODEL_PARAM_MEMORY], memory);
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
