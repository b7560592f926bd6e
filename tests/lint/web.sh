#!/usr/bin/env bash
# The TypeScript of the report page is laid out by prettier, passes its compiler and its linter, and names each block class
# in one table. Fails on a file that prettier would change, on an error of types, on an `any`, on a line that is too long, and
# on a class that a view names.
# timeout: 300
source "$(dirname "$0")/../lib.sh"

for tool in node npm; do
    command -v "$tool" >/dev/null || skip "needs $tool (package nodejs, npm)"
done

# A copy, since node_modules has no place among the sources; kept in the build tree for the next time.
work=$BINARY/web-lint
mkdir -p "$work/tests"
rm -rf "$work/web/src" "$work/tests/browser"
mkdir -p "$work/web"
cp -R "$SOURCE/tests/browser" "$work/tests/"
(cd "$SOURCE/web" && cp -R src ./*.json ./*.mjs ./*.md .prettier* "$work/web/")
cd "$work/web"
if ! cmp -s package-lock.json node_modules/.installed; then
    timeout 240 npm ci --no-audit --no-fund --prefer-offline --fetch-retries=1 --fetch-timeout=20000 >"$OUT" 2>&1 || {
        tail -n 5 "$OUT"
        skip "npm could not install prettier, eslint and TypeScript; is there a network?"
    }
    cp package-lock.json node_modules/.installed
fi

expect_exit 0 npm run --silent format:check
expect_exit 0 npm run --silent check
expect_exit 0 npm run --silent lint

# Texts and comments that prettier leaves alone.
if grep -nE '^.{121,}' src/*.ts src/views/*.ts; then
    fail "these lines are longer than 120 columns"
fi

# Names of classes are the keys of the table; some are also names of tools and titles of views.
classes=$(sed -n '/^const CLASSES/,/^};/s/^  \([A-Za-z]*\): {.*/\1/p' src/classes.ts)
[ "$(wc -w <<<"$classes")" -ge 8 ] || fail "the table of classes was not found in classes.ts"
pattern="\"($(tr '\n' '|' <<<"$classes" | sed 's/|$//'))\""
if grep -nE "$pattern" src/*.ts src/views/*.ts | grep -v '^src/classes.ts:' |
    grep -vE 'derived\(report, "beffio"\)|^[^:]*:[0-9]*: *title: '; then
    fail "these lines name a class of blocks: ask classes.ts"
fi
