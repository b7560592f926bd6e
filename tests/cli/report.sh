#!/usr/bin/env bash
# proves: IOT-6
# 'piolet report' without a browser: what it takes, what it refuses, the plain page. Fails when a damaged file takes a good
# one with it, when text out of a file becomes markup, or when a failed run leaves a page behind or damages one.
# labels: asan
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

cat >try.in <<'TEXT'
classname Lowlevel
testname single
filename t.dat
numfilesize 1
filesize 0.1
numblocksize 1
blocksize 0.001
info.note <script>alert(1)</script> & "more"
TEXT
expect_exit 0 "$PIOLET" run -n 1 try.in -o try.out

# The command line.
expect_exit 2 "$PIOLET" report
expect_in "$ERR" "which FILE?"
expect_exit 2 "$PIOLET" report --output= try.out
expect_exit 2 "$PIOLET" report no-such-file
expect_in "$ERR" "no-such-file"
expect_exit 2 "$PIOLET" report try.out -o no/such/folder.html

# The plain page: tables and plots, and nothing that runs.
expect_exit 0 "$PIOLET" report --plain --title 'A <title> & more' try.out -o plain.html
expect_in plain.html '<h1>A &lt;title&gt; &amp; more</h1>'
expect_in plain.html '<svg'
expect_in plain.html 'Rates by file size and block size'
expect_not_in plain.html '<script'

# Damaged files are told, the good one is shown.
head -c 700 try.out >cut.out
head -c 1000 /dev/urandom >noise.out
echo "piolet-model 1" >cut.model
expect_exit 0 "$PIOLET" report --plain cut.out noise.out cut.model try.out -o plain.html
expect_in "$ERR" "noise.out"
expect_in "$ERR" "cut.model"
expect_in plain.html 'noise.out'
expect_in plain.html 'Raw times'

# A page that is there stays as it was when the new one cannot be made; nothing is left beside it.
expect_exit 2 "$PIOLET" report noise.out -o plain.html
expect_in plain.html 'Raw times'
[ -z "$(ls ./*.part 2>/dev/null)" ] || fail "a part of a page was left behind"

# Neither results nor a pipe are replaced by a page.
cp try.out kept.out
expect_exit 2 "$PIOLET" report --plain kept.out -o kept.out
cmp -s try.out kept.out || fail "the page replaced its results"
mkfifo pipe
timeout 30 cat pipe >through.html &
expect_exit 0 "$PIOLET" report --plain try.out -o pipe
wait
expect_in through.html 'Raw times'
[ -p pipe ] || fail "the pipe was replaced"

# With charts: everything is in the file, deflated.
if [ -f "$BINARY/share/piolet/report.html" ]; then
    expect_exit 0 "$PIOLET" report try.out -o page.html
    expect_in page.html 'id="piolet-json"'
    expect_not_in page.html 'alert(1)'
    expect_exit 0 "$PIOLET" report try.out -o -
    expect_in "$OUT" 'id="piolet-json"'
else
    expect_exit 0 "$PIOLET" report try.out -o page.html
    expect_in "$ERR" "tables and plain plots only"
    expect_in page.html '<svg'
fi
