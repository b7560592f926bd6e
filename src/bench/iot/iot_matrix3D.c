/* matrix3D: matrix2D with a third dimension (IOT-21). The steps are those of iot_matrix2D.c. */
#include "bench/iot/iot_matrix.h"

#include <stddef.h>

extern const struct iot_test iot_test_matrix3D;
const struct iot_test iot_test_matrix3D = {
    .spec = {.class_name = "Kernel",
             .name = "matrix3D",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, MATRIX_SIZES_3D, MATRIX_GRIDS_3D,
                                                              MATRIX_ACCESS, NULL}},
    .summary = "a distributed 3-D array, each process moving its part with one call",
    .check = matrix_check,
    .describe = matrix_describe,
    .run_coll = matrix_run_coll,
};
