/* One random constructor over a type. */
#ifndef ENGINE_FUZZ_CONSTRUCT_H
#define ENGINE_FUZZ_CONSTRUCT_H

#include "engine_fuzz_type.h"

/* Takes `kid` over. `base` is what the innermost kid is made of: a struct may mix it in. */
struct type *construct_draw(struct random *random, struct type *kid, const struct type *base,
                            const struct type_style *style);

#endif
