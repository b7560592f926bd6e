#!/usr/bin/env bash
# proves: GPFS-6 GPFS-7
# Wrong values of PIOLET_* variables, wrong hints in PIOLET_HINTS and misspelt names are told once, by one rank, with what is
# allowed; right ones are not. Fails when one passes without a word, when every rank speaks, or when a right one is told.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

# told COUNT TEXT: so many lines with it
told()
{
    local found
    found=$(grep -cF -- "$2" "$ERR") || true
    [ "$found" = "$1" ] || fail "$found lines '$2' in the place of $1: $(cat "$ERR")"
}

export MPIRUN_TIMEOUT=120
wrong=(PIOLET_NODE_RANKS=0 PIOLET_THREADS=many PIOLET_AUXILIARY=lots PIOLET_AUXILIARY_BYTES=7 PIOLET_DEVELOP=yes
    PIOLET_PROGRESS=loud PIOLET_TRACE_FULL=01 PIOLET_LOG_ABOVE=much PIOLET_HINT=cb_nodes=1 PIOLET_NONSENSE_ALTOGETHER=1
    "PIOLET_HINTS=cb_nodes=many;romio_cb_write=perhaps;piolet_strategy=nosuch;piolet_stratgy=ring")
expect_exit 0 env "${wrong[@]}" "$BASH" -c "source '$SOURCE/tests/lib.sh'; source '$SOURCE/tests/engine.sh'; engine_run 3 '$PROGRAMS/engine_environment' '$TMP/file'"
told 1 "piolet: warning: PIOLET_NODE_RANKS is '0'; allowed: 1 and above"
told 1 "piolet: warning: PIOLET_THREADS is 'many'; allowed: program, multiple"
told 1 "piolet: warning: PIOLET_AUXILIARY is 'lots'; allowed: 0 to 16"
told 1 "piolet: warning: PIOLET_AUXILIARY_BYTES is '7'; allowed: 1m to 16g"
told 1 "piolet: warning: PIOLET_DEVELOP is 'yes'; allowed: 0, 1"
told 1 "piolet: warning: PIOLET_PROGRESS is 'loud'; allowed: always, never"
told 1 "piolet: warning: PIOLET_TRACE_FULL is '01'; allowed: 0, 1"
told 1 "piolet: PIOLET_LOG_ABOVE is 'much'; allowed: a number of bytes"
told 1 "piolet: warning: PIOLET_HINT is no variable of piolet's; did you mean PIOLET_HINTS?"
told 1 "piolet: warning: PIOLET_NONSENSE_ALTOGETHER is no variable of piolet's"
told 1 "cb_nodes: rejected 'many'"
told 1 "romio_cb_write: rejected 'perhaps'"
told 1 "piolet_strategy: rejected 'nosuch'"
told 1 "ignored 'piolet_stratgy': no hint has this name; did you mean piolet_strategy?"

right=(PIOLET_NODE_RANKS=2 PIOLET_THREADS=multiple PIOLET_AUXILIARY=0 PIOLET_AUXILIARY_BYTES=64m PIOLET_DEVELOP=1
    "PIOLET_HINTS=cb_nodes=1;piolet_strategy=ring" PIOLET_TRACE_FULL=0 PIOLET_LOG_DIR=)
expect_exit 0 env "${right[@]}" "$BASH" -c "source '$SOURCE/tests/lib.sh'; source '$SOURCE/tests/engine.sh'; engine_run 3 '$PROGRAMS/engine_environment' '$TMP/file'"
told 0 "piolet: warning"

# The command line says so too.
PIOLET_AUXILARY=2 expect_exit 0 "$PIOLET" hints
told 1 "piolet: warning: PIOLET_AUXILARY is no variable of piolet's; did you mean PIOLET_AUXILIARY?"
