#include "bench/iot/iot.h"

#include <stddef.h>
#include <string.h>

#define ENTRY(name) extern const struct iot_test iot_test_##name;
#include "bench/iot/lowlevel.def"
#undef ENTRY

static const struct iot_test *const ALL[] = {
#define ENTRY(name) &iot_test_##name,
#include "bench/iot/lowlevel.def"
#undef ENTRY
    NULL,
};

static const struct iot_test *const LOWLEVEL[] = {
#define ENTRY(name) &iot_test_##name,
#include "bench/iot/lowlevel.def"
#undef ENTRY
    NULL,
};

const struct iot_test *const *iot_tests(const char *class_name)
{
    return class_name && strcmp(class_name, "Lowlevel") == 0 ? LOWLEVEL : ALL;
}
