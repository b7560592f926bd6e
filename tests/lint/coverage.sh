#!/usr/bin/env bash
# docs/coverage.md says which test proves which requirement. Fails when it is not what tools/coverage makes of the
# 'proves:' lines of today's tests, or when such a line names a requirement that does not exist.
source "$(dirname "$0")/../lib.sh"

cd "$SOURCE"
timeout 60 tools/coverage >"$TMP/coverage.md" || fail "tools/coverage failed"
diff -u docs/coverage.md "$TMP/coverage.md" >&2 || fail "docs/coverage.md is stale: run 'tools/coverage --write'"
