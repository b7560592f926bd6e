#!/usr/bin/env bash
# One policy for all outputs: what a verb reads is never replaced, by whatever name; files change when the verb succeeds
# and not before; links, modes, pipes and devices stay what they are; a full disk costs nothing but the new output;
# results are appended to block files only.
# proves: IOT-5 IOT-6
# timeout: 300
# It would fail if 'analyze export -o k.out k.out' destroyed the measurements, if a tool that does not apply emptied the
# file of --json, if a link were replaced by a file, or if anything but the outputs were left behind.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

# ---- inputs ----

cat >k.in <<'END'
timingsfilename k.out
class Lowlevel
testname single
filename k.dat
numfilesize 2
filesize 0.1 0.2
numblocksize 1
blocksize 0.01
END
expect_exit 0 "$PIOLET" run k.in
expect_exit 0 "$PIOLET" trace -n 1 -o tr -- "$PIOLET" btio --class S --dumps 1 --file b.dat -o b.out
expect_exit 0 "$PIOLET" model -o m tr
expect_exit 0 "$PIOLET" replay m --on . -o r.out
expect_exit 0 "$PIOLET" history --db h.db add k.out

# The verbs that make files out of files: name of the file read, kind of output, and the command with OUT in it.
commands()
{
    cat <<'END'
k.out x analyze export --format json -o OUT k.out
k.out x analyze export --format csv -o OUT k.out
k.out x analyze allav --json OUT k.out
k.out x analyze allav --csv OUT k.out
k.out svg analyze allav -o OUT k.out
k.out png analyze allav -o OUT k.out
k.out html report --plain -o OUT k.out
m html report -o OUT m k.out
h.db x history --db h.db export --json OUT
h.db x history --db h.db export --csv OUT
h.db x history --db h.db export --blocks OUT
tr/trace.0 x model -o OUT tr
tr/trace.0 svg model --plot OUT tr
m svg model --check --plot OUT m
m x predict m r.out --json OUT
r.out x predict m r.out --csv OUT
m x choose m r.out --json OUT
r.out x choose m r.out --csv OUT
END
}

run_with() # FILE COMMAND...: the command with FILE in the place of OUT
{
    local file=$1 words=() word
    shift
    for word in "$@"; do
        words+=("${word/#OUT/$file}")
    done
    "$PIOLET" "${words[@]}"
}

succeeds()
{
    run_with "$@" >"$OUT" 2>"$ERR" </dev/null || fail "exit status $?: $*: $(cat "$ERR")"
}

fails()
{
    ! run_with "$@" >"$OUT" 2>"$ERR" </dev/null || fail "succeeded: $*"
    grep -q '^piolet [a-z]*: ' "$ERR" || fail "no message: $*: $(cat "$ERR")"
}

same_as_wanted() # FILE COMMAND...
{
    local file=$1
    shift
    case $* in
    report*) grep -q '</html>\|</pre>\|</script>' "$file" ;; # holds the time
    *) cmp -s "$file" wanted ;;
    esac || fail "$file is not what it should be: $*"
}

nothing_beside() # FOLDER FILE...: the folder holds these alone
{
    local found wanted
    found=$(ls -A "$1")
    shift
    wanted=$(printf '%s\n' "$@" | LC_ALL=C sort)
    [ "$(LC_ALL=C sort <<<"$found")" = "$wanted" ] || fail "files: $found"
}

try_kinds() # SUFFIX COMMAND...: links, modes, pipes, devices
{
    local suffix=$1 reader
    shift
    rm -rf kinds wanted piped
    mkdir kinds
    succeeds "kinds/new.$suffix" "$@"
    mv "kinds/new.$suffix" wanted
    [ "$(stat -c %a wanted)" = 644 ] || fail "a new file has the mode $(stat -c %a wanted): $*"
    echo old >"kinds/mode.$suffix"
    chmod 640 "kinds/mode.$suffix"
    chown 12:34 "kinds/mode.$suffix" 2>/dev/null || true
    stat -c '%a %u %g' "kinds/mode.$suffix" >before
    succeeds "kinds/mode.$suffix" "$@"
    same_as_wanted "kinds/mode.$suffix" "$@"
    stat -c '%a %u %g' "kinds/mode.$suffix" | cmp - before || fail "mode or owner changed: $*"
    echo old >"kinds/target"
    ln -s target "kinds/link.$suffix"
    succeeds "kinds/link.$suffix" "$@"
    [ -L "kinds/link.$suffix" ] || fail "a link became a file: $*"
    same_as_wanted kinds/target "$@"
    rm kinds/target
    succeeds "kinds/link.$suffix" "$@"
    [ -L "kinds/link.$suffix" ] && [ -f kinds/target ] || fail "a link to nothing: $*"
    echo old of more than one line, so that a rest of it would be seen >"kinds/hard"
    ln kinds/hard "kinds/hard.$suffix"
    succeeds "kinds/hard.$suffix" "$@"
    same_as_wanted kinds/hard "$@"
    [ kinds/hard -ef "kinds/hard.$suffix" ] || fail "a name of the file was lost: $*"
    mkfifo "kinds/pipe.$suffix"
    cat "kinds/pipe.$suffix" >piped &
    reader=$!
    succeeds "kinds/pipe.$suffix" "$@"
    wait "$reader"
    same_as_wanted piped "$@"
    ln -s /dev/null "kinds/null.$suffix"
    succeeds "kinds/null.$suffix" "$@"
    [ -c /dev/null ] || fail "/dev/null is no device any more: $*"
    nothing_beside kinds "mode.$suffix" "link.$suffix" target hard "hard.$suffix" "pipe.$suffix" "null.$suffix"
    if [ "$suffix" = x ]; then # plots have names of their own
        run_with /dev/stdout "$@" 2>"$ERR" </dev/null >>piped || fail "/dev/stdout: $*"
        [ "$(head -c 40 piped)" = "$(head -c 40 wanted)" ] || fail "/dev/stdout: what stood before is gone: $*"
    fi
}

try_inputs() # INPUT SUFFIX COMMAND...: the output is an input
{
    local input=$1 suffix=$2 link name
    shift 2
    rm -f link.* hard.*
    cp -r "$input" saved
    ln -s "$input" "link.$suffix"
    link="link.$suffix"
    ln "$input" "hard.$suffix"
    for name in "$input" "./$input" "$link" "hard.$suffix"; do
        case $suffix-$name in svg-"$input" | png-"$input" | svg-./* | png-./*) continue ;; esac # not a name of a plot
        fails "$name" "$@"
        cmp -s "$input" saved || fail "$input was destroyed by $name: $*"
        expect_in "$ERR" "allowed: another file"
    done
    rm "link.$suffix" "hard.$suffix" saved
}

number=0
while read -r input suffix command; do
    number=$((number + 1))
    [ "$suffix" != png ] || command -v rsvg-convert >/dev/null || continue
    read -ra words <<<"$command"
    try_inputs "$input" "$suffix" "${words[@]}"
    ! is_mine "$number" || try_kinds "$suffix" "${words[@]}"
done < <(commands)

# The same on a file system without nameless files: nothing is left beside, after success nor after a failure.
preloaded=$PIOLET
PIOLET=$TMP/named
printf '#!/bin/sh\nLD_PRELOAD=%q${LD_PRELOAD:+:$LD_PRELOAD} exec %q "$@"\n' "$PROGRAMS/libno_tmpfile.so" "$preloaded" >named
chmod +x named
try_inputs k.out x analyze export --format csv -o OUT k.out
try_kinds x analyze export --format csv -o OUT k.out
mkdir alone
echo precious >alone/old.json
fails alone/old.json analyze beff --json OUT k.out
nothing_beside alone old.json
[ "$(cat alone/old.json)" = precious ] || fail "a tool that does not apply changed the file"
PIOLET=$preloaded

# Standard input and output are files, too; what SQLite keeps beside a history; a name that the next 'model' would read.
cp k.out saved
"$PIOLET" analyze export --format csv -o k.out - <k.out >"$OUT" 2>"$ERR" && fail "standard input was replaced"
"$PIOLET" analyze export --format csv k.out >>k.out 2>"$ERR" && fail "standard output is the input"
cmp k.out saved || fail "the measurements changed"
fails h.db-journal history --db h.db export --json OUT
fails tr/trace.7 model -o OUT tr

# A full standard output is told once, by whichever verb.
while read -r command; do
    read -ra words <<<"$command"
    ! "$PIOLET" "${words[@]}" >/dev/full 2>"$ERR" </dev/null || fail "a full standard output: succeeded: $command"
    expect_in "$ERR" "No space left"
    [ "$(grep -c '' "$ERR")" = 1 ] || fail "more than one line: $command: $(cat "$ERR")"
done <<'END'
analyze allav k.out
report -o - k.out
history --db h.db export --json -
model tr
predict m r.out
choose m r.out --json -
run --dry-run k.in
END

# Two outputs are two files.
fails both analyze allav --json OUT --csv ./both k.out
fails both history --db h.db export --json OUT --csv both
ln -s both link.both
fails both predict m r.out --json OUT --csv link.both
[ ! -e both ] || fail "one of two outputs to the same file was written"

# ---- a verb that fails changes nothing ----

echo precious >old.json
cp old.json old.csv
cp old.json old.svg
mkdir empty-trace
head -c 300 /dev/urandom >noise
while read -r command; do
    read -ra words <<<"$command"
    fails old.json "${words[@]}"
    for file in old.json old.csv old.svg; do
        [ "$(cat $file)" = precious ] || fail "$file was changed: $command"
    done
done <<'END'
analyze beff --json OUT k.out
analyze piobench --json OUT --csv old.csv -o old.svg k.out
analyze kernel --json OUT k.out
analyze allav --test nosuch --json OUT k.out
analyze allav --json OUT --csv none/x.csv k.out
analyze export --format json -o OUT noise
history --db h.db export --json OUT nosuch-id
history --db noise export --json OUT
model -o OUT empty-trace
model -o OUT --plot none/x.svg tr
predict m k.out --json OUT
predict noise r.out --json OUT
choose m k.out --csv OUT
report -o OUT noise
run --json OUT nosuch.in
run --json OUT --set blocksize=x k.in
END
[ -z "$(find . -name '*.part')" ] || fail "something is left behind: $(find . -name '*.part')"

# ---- results go behind results only ----

echo "a letter" >letter
for command in "run k.in" "beff -n 2 --quick" "beffio -n 2 -T 1 -p ." "piobench -n 1 -s 64k -b 4k" "gpfs contiguous -n 1" \
    "btio --class S --file b.dat" "madbench --file b.dat" "peak --quick ." "replay m --on ." "predict m r.out" "choose m r.out"; do
    read -ra words <<<"$command"
    fails letter "${words[@]}" -o OUT
    expect_in "$ERR" "is no block file"
    [ "$(cat letter)" = "a letter" ] || fail "a letter got results: $command"
done
: >none-yet
expect_exit 0 "$PIOLET" predict m r.out -o none-yet
expect_exit 0 "$PIOLET" predict m r.out -o none-yet
[ "$(grep -c '^piolet-block' none-yet)" = 2 ] || fail "predictions were not appended"
cp r.out saved
for command in "predict m r.out" "choose m r.out" "predict m none-yet r.out"; do
    read -ra words <<<"$command"
    fails r.out "${words[@]}" -o OUT
    cmp r.out saved || fail "results were added to those that they follow from: $command"
done
[ ! -e b.dat ] || fail "a test file was left"

# ---- measurements: where the results, the keywords and the test file are ----

cp k.in keywords
cp k.out results
while read -r command; do
    read -ra words <<<"$command"
    fails results "${words[@]}"
    cmp k.out results || fail "results were destroyed: $command"
done <<'END'
run -o results --json OUT k.in
beff -n 2 --quick -o results --plot OUT
beffio -n 2 -T 1 -p . -o results --csv OUT
piobench -n 1 -o results --json OUT
gpfs contiguous -n 1 -o results --json OUT
btio --class S --file b.dat -o results --json OUT
madbench --file OUT -o results
peak --quick . -o results --json OUT
replay m --on . -o results --csv OUT
END
fails k.in run --json OUT k.in
fails k.dat run --json OUT k.in
fails m replay m --on . --json OUT
cmp k.in keywords || fail "the keyword file changed"
expect_exit 0 "$PIOLET" run -o again.out --json old.json --csv /dev/null k.in
grep -q '"blocks"' old.json || fail "a run that succeeds replaces its export"

# ---- a full disk ----

small_fs 4M
cd "$SMALL_FS"
echo precious >old.x
for file in old.svg old.png old.html; do cp old.x $file; done
ln old.x hard.x
head -c 8M /dev/zero >filling 2>/dev/null || true
ls -A >"$TMP/before"
cd "$TMP"
while read -r input suffix command; do
    [ "$suffix" != png ] || command -v rsvg-convert >/dev/null || continue
    read -ra words <<<"$command"
    for file in "old.$suffix" "new.$suffix" "hard.$suffix"; do
        fails "$SMALL_FS/$file" "${words[@]}"
        expect_in "$ERR" "No space left"
        [ "$(grep -c '' "$ERR")" = 1 ] || fail "more than one line: $(cat "$ERR")"
    done
    [ "$(cat "$SMALL_FS/old.$suffix")" = precious ] || fail "old.$suffix was changed on a full disk: $command"
    ls -A "$SMALL_FS" | cmp - before || fail "a full disk changed the folder: $command"
done < <(commands)
[ "$(cat "$SMALL_FS/hard.x")" = precious ] || fail "hard.x was changed on a full disk"
