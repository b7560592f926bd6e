#include "bench/iot/iot.h"

#include <stddef.h>
#include <string.h>

#define ENTRY(name) extern const struct iot_test iot_test_##name;
#include "bench/iot/kernel.def"
#include "bench/iot/lowlevel.def"
#undef ENTRY

#define ENTRY(name) &iot_test_##name,
static const struct iot_test *const LOWLEVEL[] = {
#include "bench/iot/lowlevel.def"
    NULL,
};
static const struct iot_test *const KERNEL[] = {
#include "bench/iot/kernel.def"
    NULL,
};
static const struct iot_test *const ALL[] = {
#include "bench/iot/lowlevel.def" /* NOLINT(readability-duplicate-include) */
/* the kernels come second */
#include "bench/iot/kernel.def" /* NOLINT(readability-duplicate-include) */
    NULL,
};
#undef ENTRY

const struct iot_test *const *iot_tests(const char *class_name)
{
    if (!class_name)
        return ALL;
    return strcmp(class_name, "Kernel") == 0 ? KERNEL : LOWLEVEL;
}
