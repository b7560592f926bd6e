#!/usr/bin/env bash
# Every variable PIOLET_* that the sources read or set is a row of src/base/variables.def, and every row for users is in a
# manual page. Fails when a variable is added without its row: users would be warned of a name that is right.
source "$(dirname "$0")/../lib.sh"
cd "$SOURCE"
grep -rhoE '"PIOLET_[A-Z_]+"' src --include='*.c' --include='*.h' | tr -d '"' | sort -u >"$TMP/used"
grep -oE '^VARIABLE\("PIOLET_[A-Z_]+"' src/base/variables.def | grep -oE 'PIOLET_[A-Z_]+' | sort -u >"$TMP/rows"
grep -vxE 'PIOLET_|PIOLET_TEST_|PIOLET_OPT_' "$TMP/used" | comm -23 - "$TMP/rows" >"$TMP/missing"
[ ! -s "$TMP/missing" ] || fail "not in src/base/variables.def: $(tr '\n' ' ' <"$TMP/missing")"
