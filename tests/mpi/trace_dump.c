/* trace_dump DIR RANK: a trace of either form, call by call, through its tree. First its files, then the calls; the
 * last line tells how many nodes of the tree they came from. Exits with 1 on a trace that cannot be read. */
#include "trace/trace_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *word(const char *text)
{
    return text ? text : "-";
}

/* Of a view, the detail has the displacement of the first one; the offset is that of each. */
static const char *detail_of(const struct trace_tree *tree, const struct trace_node *node)
{
    const char *text = node->detail >= 0 ? tree->details[node->detail].text : "";
    if (strncmp(text, "disp=", 5) == 0 && strcmp(node->class, "view") == 0)
        text += strcspn(text, " ");
    return text + strspn(text, " ");
}

static int count_nodes(const struct trace_node *nodes, int count)
{
    int all = count;
    for (int i = 0; i < count; i++)
        all += nodes[i].kind == TRACE_NODE_LOOP ? count_nodes(nodes[i].body, nodes[i].body_count) : 0;
    return all;
}

int main(int argc, char **argv)
{
    struct trace_tree tree;
    struct pl_error error;
    struct trace_expand expand;
    struct trace_expanded call;
    if (argc != 3)
        return 2;
    if (trace_tree_read(argv[1], atoi(argv[2]), &tree, &error) != PL_OK) {
        fprintf(stderr, "trace_dump: %s\n", error.text);
        return 1;
    }
    printf("rank %d of %d\n", tree.rank, tree.size);
    for (int i = 0; i < tree.file_count; i++) {
        const struct trace_file *file = &tree.files[i];
        printf("file %d %s amode %d ranks %d from %d by %d number %" PRId64, i, file->name, file->amode, file->ranks,
               file->first_rank, file->world_stride, file->world_sequence);
        for (int k = 0; file->members && k < file->ranks; k++)
            printf(" %d", file->members[k]);
        printf("\n");
    }
    trace_expand_init(&expand, &tree);
    while (trace_expand_next(&expand, &call)) {
        const struct trace_node *node = call.node;
        if (node->kind == TRACE_NODE_COMM)
            printf("comm %" PRId64 " %" PRId64 "\n", node->events, node->collectives);
        else
            printf("%s %s %s %s %s file %d bytes %" PRId64 " offset %" PRId64 " code %d %s\n", node->function,
                   node->class, word(node->who), word(node->how), word(node->position), node->file, call.bytes,
                   call.offset, node->code, detail_of(&tree, node));
    }
    printf("%s: %" PRId64 " calls in %d nodes\n", tree.complete ? "complete" : "killed", tree.calls,
           count_nodes(tree.nodes, tree.node_count));
    trace_tree_clear(&tree);
    return 0;
}
