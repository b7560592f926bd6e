# Helpers of the shell tests. A test begins with:  source "$(dirname "$0")/../lib.sh"
# It then has an empty directory $TMP, removed at the end, and these functions:
#   fail MESSAGE              ends the test as failed          skip REASON   ends it as skipped
#   expect_exit CODE CMD...   runs CMD, its output in the files $OUT and $ERR; fails on another exit status
#   expect_in FILE TEXT       fails unless FILE holds TEXT     expect_not_in FILE TEXT
#   expect_wrong_use VERB     of each line STATUS|TEXT|ARGUMENTS of standard input: this exit status, TEXT on stderr, no more
#   expect_refused VERB TEXT ARGUMENT...  exit status 2, a message of one line that holds TEXT, and no file more than before
#   make_show TEXT            makes the program ./show: it prints its arguments as <A><B>, then TEXT as a shell reads it, and
#                             ends with exit status 7
#   mpirun_n N CMD...         runs CMD on N ranks of this build's MPI
#   kill_ranks                kills the ranks of piolet that run in $TMP, and waits for their end
#   small_fs SIZE             mounts an ext4 of SIZE (as 64M) at $SMALL_FS; skips where that cannot be
#   is_mine N                 is case N for this MPI? For cases that try our own code rather than the MPI: ./test deals
#                             them to the MPIs in turn (PIOLET_TEST_DEAL=yes), else all are for each
#   on_exit CMD...            runs CMD at the end, last one first
#   project_files PATTERN...  the files of the project, as 'git ls-files' would name them
#   expect_debts FOUND WHAT   fails unless the lines of FOUND are those of standard input: WHAT is wrong and known to be
# No command may hang: expect_exit ends one after $COMMAND_TIMEOUT seconds (120), mpirun_n after $MPIRUN_TIMEOUT (120).
# shellcheck shell=bash
set -euo pipefail

SOURCE=${PIOLET_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
PIOLET_MPI=${PIOLET_MPI:-mpich}
BINARY=${PIOLET_BINARY_DIR:-$SOURCE/build/$PIOLET_MPI}
PIOLET=${PIOLET:-$BINARY/bin/piolet}
export PROGRAMS=$BINARY/test # what tests/programs.cmake builds
TMP=$(mktemp -d "${TMPDIR:-/tmp}/piolet-test.$$.XXXXXX")
OUT=$TMP/.stdout
ERR=$TMP/.stderr
SMALL_FS= # set by small_fs
export SMALL_FS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

exit_commands=()

on_exit()
{
    exit_commands+=("$(printf '%q ' "$@")")
}

clean_up()
{
    local status=$? i
    set +e
    for ((i = ${#exit_commands[@]} - 1; i >= 0; i--)); do
        eval "${exit_commands[i]}"
    done
    rm -rf --one-file-system "$TMP"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail()
{
    printf 'FAIL: %s (%s:%s)\n' "$*" "${BASH_SOURCE[-1]##*/}" "${BASH_LINENO[-2]:-?}" >&2
    exit 1
}

skip()
{
    printf 'SKIP: %s\n' "$*"
    exit 77
}

# Functions end their own commands in time; programs are ended here.
limited()
{
    if [ "$(type -t "$1")" = file ]; then
        timeout -k 10 "${COMMAND_TIMEOUT:-300}" "$@"
    else
        "$@"
    fi
}

expect_exit()
{
    local wanted=$1 status=0
    shift
    limited "$@" >"$OUT" 2>"$ERR" </dev/null || status=$?
    if [ "$status" -ne "$wanted" ]; then
        printf -- '--- stdout of: %s\n%s\n--- stderr\n%s\n---\n' "$*" "$(tail -n 30 "$OUT")" "$(tail -n 30 "$ERR")" >&2
        [ "$status" -ne 124 ] || fail "still running after its time: $*"
        fail "exit status $status in the place of $wanted: $*"
    fi
}

expect_in()
{
    grep -qF -- "$2" "$1" && return
    tail -n 30 "$1" >&2
    fail "'$2' is not in ${1##*/}"
}

expect_not_in()
{
    ! grep -qF -- "$2" "$1" && return
    grep -nF -- "$2" "$1" >&2
    fail "'$2' is in ${1##*/}"
}

expect_wrong_use()
{
    local verb=$1 status text arguments
    while IFS='|' read -r status text arguments; do
        # shellcheck disable=SC2086  # several arguments
        expect_exit "$status" "$PIOLET" "$verb" $arguments
        expect_in "$ERR" "$text"
        [ ! -s "$OUT" ] || fail "$verb $arguments: something on stdout"
    done
}

# One line at once: the ranks' lines must not mix.
make_show()
{
    printf '#!/bin/sh\nwords=$(printf "<%%s>" "$@")\necho "$words %s"\nexit 7\n' "$1" >show
    chmod +x show
}

# Behind the message there may be a hint to --help.
expect_refused()
{
    local verb=$1 text=$2 before
    shift 2
    before=$(find . -type f ! -name '.std*')
    expect_exit 2 "$PIOLET" "$verb" "$@"
    expect_in "$ERR" "$text"
    [ "$(grep -vc "^Try 'piolet $verb --help'" "$ERR")" -eq 1 ] || fail "not one message: $*: $(cat "$ERR")"
    [ "$(find . -type f ! -name '.std*')" = "$before" ] || fail "something was written: $*"
}

is_mine()
{
    local turn=0
    [ "$PIOLET_MPI" = mpich ] || turn=1
    [ "${PIOLET_TEST_DEAL:-no}" != yes ] || [ $(($1 % 2)) -eq "$turn" ]
}

# What to preload under MPICH, so that ranks without a core of their own do not take turns in waiting.
yield_preload()
{
    local library=$BINARY/lib/libpiolet-yield.so
    [ -f "$library" ] || return 0
    if [[ ${PIOLET_SANITIZE:-} == *address* ]]; then
        printf '%s:' "$(gcc -print-file-name=libasan.so)"
    fi
    printf '%s' "$library"
}

mpirun_n()
{
    local ranks=$1 preload limit=(timeout -k 10 "${MPIRUN_TIMEOUT:-300}")
    shift
    if [ "$PIOLET_MPI" = openmpi ]; then
        "${limit[@]}" mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none \
            --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0 -n "$ranks" "$@"
        return
    fi
    preload=$(yield_preload)
    "${limit[@]}" mpiexec.mpich ${preload:+-genv LD_PRELOAD "$preload"} -n "$ranks" "$@"
}

# The ranks of the run that was started in this folder, found by program and folder.
own_ranks()
{
    local exe process
    for exe in $(find /proc/[0-9]* -maxdepth 1 -name exe -lname "$(readlink -f "$PIOLET")" 2>/dev/null || true); do
        process=${exe%/exe}
        [ "$(readlink "$process/cwd")" != "$TMP" ] || printf '%s\n' "${process#/proc/}"
    done
}

# Kills them in one go (a short run is over before a shell has looked at every process), and waits for the end of each:
# a rank that is dying still has its files open and its results locked.
kill_ranks()
{
    local rank ranks tries
    ranks=$(own_ranks)
    # shellcheck disable=SC2086  # a word for each
    kill -9 $ranks 2>/dev/null || true # may be over
    for rank in $ranks; do
        for ((tries = 0; tries < 1000; tries++)); do
            grep -q '^State:[[:space:]]*[^ZX]' "/proc/$rank/status" 2>/dev/null || break
            sleep 0.02
        done
        [ "$tries" -lt 1000 ] || fail "rank $rank is left though it was killed"
    done
}

small_fs()
{
    local size=$1 image=$TMP/.image
    [ "$(id -u)" -eq 0 ] || skip "a small file system needs root"
    command -v mkfs.ext4 >/dev/null || skip "a small file system needs mkfs.ext4 (package e2fsprogs)"
    truncate -s "$size" "$image"
    mkfs.ext4 -q -F -m 0 "$image" || fail "mkfs.ext4 failed"
    mkdir -p "$TMP/small"
    mount -o loop "$image" "$TMP/small" 2>"$ERR" || skip "cannot mount a loop device: $(head -n 1 "$ERR")"
    on_exit unmount "$TMP/small"
    SMALL_FS=$TMP/small
}

unmount()
{
    umount "$1" 2>/dev/null || { sleep 1; umount "$1" 2>/dev/null; } || umount -l "$1"
}

# Files that git knows or would take; where this is no git tree of ours, every file outside of build/ and results/.
project_files()
{
    (
        cd "$SOURCE" || exit
        local names=() pattern known
        known=$(git ls-files --cached --others --exclude-standard -- "$@" 2>/dev/null) || known=
        if [ -n "$known" ]; then
            printf '%s\n' "$known"
        else
            for pattern in "$@"; do
                names+=(${names[@]:+-o} -path "./$pattern")
            done
            find . \( -path ./build -o -path ./results -o -path ./.git \) -prune -o -type f \( "${names[@]:--true}" \) -print |
                sed 's|^\./||'
        fi
    ) | LC_ALL=C sort -u | while IFS= read -r file; do
        [ ! -f "$SOURCE/$file" ] || printf '%s\n' "$file"
    done
}

# Debts are listed so that they can only shrink: what is not listed fails, and so does what is listed and gone.
expect_debts()
{
    local found=$1 what=$2
    LC_ALL=C sort -u >"$TMP/.debts"
    LC_ALL=C sort -u "$found" >"$TMP/.found"
    if LC_ALL=C comm -23 "$TMP/.found" "$TMP/.debts" | sed 's/^/  /' | grep . >&2; then
        fail "$what"
    fi
    if LC_ALL=C comm -13 "$TMP/.found" "$TMP/.debts" | sed 's/^/  /' | grep . >&2; then
        fail "these are settled: take them from the list of debts in this lint"
    fi
}
