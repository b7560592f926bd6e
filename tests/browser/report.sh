#!/usr/bin/env bash
# proves: IOT-30 IOT-31 IOT-32 IOT-33 BIO-9 PHASE-6 PHASE-14
# The report page in a real browser. Fails when a view is blank or has no caption, table or CSV, when a chosen region has
# other statistics than its samples in the block file, when zoom, keyboard, dark colours, paper or a phone do not work, when
# anything is written to the console, when a million samples are not binned, when text out of a file becomes markup, or when
# a benchmark that the page has never heard of is not shown by the tables, charts and quantities that it wrote.
# labels: browser
# timeout: 300
source "$(dirname "$0")/../lib.sh"

command -v node >/dev/null || skip "needs node (package nodejs)"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "needs a browser (package chromium)"
[ -f "$BINARY/share/piolet/report.html" ] || skip "the page was not built: no npm, or no network"
cd "$TMP"

# Small results of everything that is measured quickly; the other classes are written by fixtures.mjs.
cat >small.in <<'TEXT'
classname Kernel
testname matrix2D
filename t.dat
numsizes 2
xsize 64 128
ysize 64 128
numprocgrids 1
xproc 2
yproc 1
collective true
TEXT
cat >million.in <<'TEXT'
classname Lowlevel
testname sinunix
filename t.dat
numfilesize 1
filesize 4
numblocksize 1
blocksize 0.000008
TEXT
expect_exit 0 "$PIOLET" run -n 2 small.in -o kernel.out
expect_exit 0 "$PIOLET" preload -n 2 "$PIOLET" run small.in -o engine.out
expect_exit 0 "$PIOLET" run -n 1 million.in -o million.out
expect_exit 0 "$PIOLET" beff -n 2 --quick -o beff.out
expect_exit 0 "$PIOLET" beffio -n 2 -T 2 -o beffio.out
expect_exit 0 "$PIOLET" piobench -n 2 -b 1k,4k -s 64k -d CYCLIC -a naive,system,cbx --max-trials 3 -o piobench.out
expect_exit 0 "$PIOLET" gpfs discontiguous -n 2 -s 64k -r 2 -o gpfs.out
expect_exit 0 "$PIOLET" trace -n 4 -o trace -- "$PIOLET" btio -c S -d 3 -f b.dat -o btio.out
expect_exit 0 "$PIOLET" model trace -o btio.model
node "$SOURCE/tests/browser/fixtures.mjs" "$TMP" "$BINARY/share/piolet/report.html" || fail "no fixtures"

expect_exit 0 "$PIOLET" report low.out kernel.out engine.out beff.out beffio.out piobench.out gpfs.out btio.out btio.model \
    peak.out replay.out prediction.out -o all.html --title 'All <b>views</b>'
expect_exit 0 "$PIOLET" report million.out -o million.html
expect_exit 0 "$PIOLET" report hostile.out low.out -o hostile.html --title "$(cat hostile.txt)"
head -c 3000 low.out >broken.out
head -c 2000 /dev/urandom >noise.out
: >empty.out
sed '/^observed/,$s/seen 1 /seen x /' btio.model >broken.model
expect_exit 0 "$PIOLET" report broken.out noise.out empty.out broken.model no-such-file low.out -o broken.html

node "$SOURCE/tests/browser/report.mjs" "$chromium" "$TMP" || fail "see above"
