#!/usr/bin/env bash
# All checks of .clang-tidy, with those that follow paths through the code.
# processors: 2
# labels: long
# timeout: 1500
export TIDY_CHECKS=
# shellcheck source=tests/lint/tidy.sh
source "$(dirname "$0")/tidy.sh"
