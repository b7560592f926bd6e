#!/usr/bin/env bash
# Our shared libraries export what they promise and nothing else. Fails on any other symbol: it could stand in the
# way of a symbol of the program that a library is preloaded into.
source "$(dirname "$0")/../lib.sh"

# The names that a library may export, as an extended regular expression.
allowed()
{
    case $1 in
    # The tracer sees who changes the handling of SIGBUS (tracer_guard.def), and who removes a file; it passes both on.
    libpiolet-trace.so) echo '^(P?MPI_[A-Z][A-Za-z0-9_]*|p?mpir?_[a-z0-9_]+|sigaction|unlink|remove|s?signal|(__)?sysv_signal|sigset|sigignore|sigprocmask|pthread_sigmask|sighold|sigrelse|sigblock|sigsetmask)$' ;;
    libpiolet-yield.so) echo '^ucp_worker_progress$' ;;
    # The counter sees calls on files.
    libpiolet-count.so) echo '^(P?MPI_[A-Z][A-Za-z0-9_]*|mca_common_monitoring_record_pml|piolet_count_at|p?(read|write)v?(64)?(v?2)?|mmap(64)?)$' ;;
    *) echo '^(P?MPI_[A-Z][A-Za-z0-9_]*|p?mpir?_[a-z0-9_]+|piolet_[a-z0-9_]+)$' ;;
    esac
}

bad=0
looked_at=0
for library in "$BINARY"/lib/*.so "$SOURCE"/build/openmpi/lib/*.so; do
    [ -f "$library" ] || continue
    looked_at=$((looked_at + 1))
    nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$TMP/symbols"
    if grep -vE "$(allowed "$(basename "$library")")" "$TMP/symbols" >"$TMP/extra"; then
        sed "s|^|$library exports |" "$TMP/extra" >&2
        bad=1
    fi
    [ -s "$TMP/symbols" ] || { echo "$library exports nothing" >&2; bad=1; }
done
[ "$looked_at" -gt 0 ] || skip "no shared library is built yet"
[ "$bad" -eq 0 ] || fail "make these symbols static or hidden, or allow them in tests/lint/exports.sh"
