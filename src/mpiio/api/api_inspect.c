/* What a program can learn of the engine: include/piolet/mpiio.h. */
#include "mpiio/hint/hint.h"
#include "mpiio/strategy/strategy.h"
#include "piolet/mpiio.h"

__attribute__((visibility("default"))) int piolet_hint_at(int index, struct piolet_hint *ret_hint)
{
    const struct hint_row *row = hint_row_at(index);
    if (!row)
        return -1;
    *ret_hint = (struct piolet_hint){.name = row->name,
                                     .default_value = row->default_text,
                                     .allowed = row->allowed,
                                     .help = row->help,
                                     .changeable = row->changeable};
    return 0;
}

__attribute__((visibility("default"))) int piolet_strategy_at(int index, struct piolet_strategy *ret_strategy)
{
    for (int i = 0; i <= index; i++)
        if (index < 0 || !STRATEGIES[i])
            return -1;
    if (index < 0)
        return -1;
    *ret_strategy = (struct piolet_strategy){.name = STRATEGIES[index]->name, .summary = STRATEGIES[index]->summary};
    return 0;
}
