#!/usr/bin/env bash
# What is done in one place is done nowhere else: reading a clock, starting a child, wrapping text, naming units. A second place
# sooner or later differs from the first: a clock that can be set back, a child that outlives us, another width, kB for KiB.
# It would fail if src had a clock_gettime(), fork(), loop over words with line ends or list of unit names outside of its place,
# if an exception were no longer needed, and if a place did not do what this lint believes it does.
#   only.sh          checks the project
#   only.sh TREE     checks another tree, where places and exceptions may be missing
source "$(dirname "$0")/../lib.sh"

# WHAT | ITS PLACE | what doing it looks like, in code without comments
rules()
{
    cat <<'TABLE'
reading a clock | src/base/clock.[ch] | (^|[^a-zA-Z0-9_.>])(clock_gettime|gettimeofday|timespec_get|ftime|time|times|clock)\(|(^|[^a-z_])(gmtime|localtime)(_r)?\(|SYS_clock_gettime|rdtsc
starting a child | src/base/process.c | (^|[^a-zA-Z0-9_.>])(fork|vfork|_Fork|clone|clone3|posix_spawnp?|popen|system)\(|SYS_(v?fork|clone)
wrapping text | src/base/text.c | strcspn\([^;]*"( \\n|\\n | \\t\\n)"|^[a-z].*[ *][a-z_]*wrap_?(words|text|lines?)\([^;]*$
naming units | src/base/units.c | "(ns|us|µs|ms)"[^;]*"(us|µs|ms|s)"|"(B|bytes|kB|KiB|MB|MiB|GB|GiB)"[^;]*"(kB|KiB|MB|MiB|GB|GiB|TB|TiB)"
TABLE
}

# WHAT | FILE | why it is not done in its one place. None is added without a reason that the place itself cannot remove.
exceptions()
{
    cat <<'TABLE'
reading a clock | src/support/kernel.c | stands alone: a program that is compared with itself, without any library of ours
reading a clock | src/support/logger.c | stands alone: preloaded into other people's programs, without any library of ours
reading a clock | src/tracer/tracer_log.c | the processor's counter, which is cheaper than any clock; base/clock sets it right every 100 µs
starting a child | src/base/interrupt.c | the cleaner stays where its rank is killed: its own session, nothing open, no one waits for it
starting a child | src/engine/aux/aux_group.c | inside of the user's program: a grandchild, which leaves its children and signals alone
TABLE
}

# The lines of FILE as FILE:LINE:CODE, without comments.
code_of()
{
    awk '
        FNR == 1 { inside = 0 }
        {
            line = $0
            code = ""
            while (line != "") {
                if (inside) {
                    end = index(line, "*/")
                    line = end ? substr(line, end + 2) : ""
                    inside = !end
                } else {
                    begin = index(line, "/*")
                    code = code (begin ? substr(line, 1, begin - 1) : line)
                    line = begin ? substr(line, begin + 2) : ""
                    inside = begin > 0
                }
            }
            if (code !~ /^[ \t]*$/) print FILENAME ":" FNR ":" code
        }' "$@"
}

cd "${1:-$SOURCE}"
bad=0
find src -name '*.[ch]' | LC_ALL=C sort >"$TMP/files"
mapfile -t files <"$TMP/files"
code_of "${files[@]}" >"$TMP/code"
while IFS= read -r rule; do
    what=${rule%% | *}
    pattern=${rule#* | }
    place=${pattern%% | *}
    pattern=${pattern#* | }
    # The pattern is for the code alone, not for the name of its file.
    pattern="$pattern" awk '
        { code = $0; sub(/^[^:]*:[^:]*:/, "", code) }
        code ~ ENVIRON["pattern"]' "$TMP/code" >"$TMP/found"
    exceptions | awk -F ' [|] ' -v what="$what" '$1 == what { print $2 }' >"$TMP/allowed"
    while IFS=: read -r file number code; do
        # shellcheck disable=SC2053 # the place is a pattern
        if [[ $file != $place ]] && ! grep -qxF "$file" "$TMP/allowed"; then
            echo "$file:$number: $what belongs to $place:$code" >&2
            bad=1
        fi
    done <"$TMP/found"
    [ $# -eq 0 ] || continue
    cut -d: -f1 "$TMP/found" | LC_ALL=C sort -u >"$TMP/who"
    while IFS= read -r file; do
        grep -qxF "$file" "$TMP/who" || fail "$file: $what is no longer done there: take it from the exceptions"
    done <"$TMP/allowed"
    while IFS= read -r file; do
        # shellcheck disable=SC2053
        [[ $file != $place ]] || continue 2
    done <"$TMP/who"
    fail "$place: $what is not found there: does this lint still know what it looks like?"
done < <(rules)
[ "$bad" -eq 0 ] || fail "done outside of its one place (the table stands in tests/lint/only.sh)"
