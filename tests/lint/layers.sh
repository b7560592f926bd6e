#!/usr/bin/env bash
# Includes go one way, between the layers of src and between the folders inside of the engine. Fails when a file includes
# what its row of the table does not name, when a row names one that stands below it (a cycle), when a folder has no row,
# when a debt is paid and still listed, and when docs/architecture.md does not show this table.
#   layers.sh           checks the project
#   layers.sh TREE      checks another tree
#   layers.sh --write   writes the table into docs/architecture.md
source "$(dirname "$0")/../lib.sh"

# To add a folder: a row  FOLDER | what it may include, besides itself and the public headers (piolet/) | what it is.
# A row may name only rows above it, so that there can be no cycle. 'all' is every layer above but engine and tracer, which
# nobody includes: programs reach them by the loader. Inside of a layer, a row LAYER/FOLDER names folders of that layer; once
# a layer has such a row, each of its folders needs one, unless LAYER/* speaks for the others. A file that stands in the
# layer itself goes by its name without suffix (engine/mem), and without a row it is open to all of its layer.
layers()
{
    cat <<'TABLE'
base | - | status and messages, text, units, random numbers, JSON writer, block files; no MPI
mpi | base | start of MPI, agreement among ranks, the table of real functions, waiting with progress, shared memory of a node
dist | base | data distributions: pure maps from ranks to parts of an array, and their MPI datatypes; also `libpiolet.so`
trace | base | the forms of a trace, and folding; no MPI, no clock, no file
engine | base mpi dist trace | the MPI-IO engine: `libpiolet-mpiio.so`
tracer | base mpi dist trace | the wrappers of `libpiolet-trace.so`
lab | base mpi dist trace | keyword files, runner, samples, facts of the machine, results and how they are shown
model | base mpi dist trace lab | the I/O phases of a program, made of its trace
bench | base mpi dist trace lab model | the benchmarks, a folder each (`src/bench/README.md`)
predict | all | the time of a program's I/O on another system
history | all | results over time: quantities, changes, SQLite
page | all | one HTML page out of results
survey | all | a survey of a machine: the verbs one after the other, and what they found
cli | all | verbs: parse, call, print
support | - | libraries preloaded into MPI jobs (`libpiolet-yield.so`)
bench/* | - | a benchmark knows no other
bench/iot | - | the Parallel I/O Test Suite
bench/beffio | iot | b_eff_io: takes the data to write and check, and the order of random places, from the suite
engine/fault | - | fault plans: which call of the system fails when
engine/mem | fault | memory that a fault plan can refuse
engine/storage | fault mem | files by system calls, maps and locks
engine/error | mem | error classes, codes and handlers
engine/log | - | what the engine tells
engine/hint | mem | the hints, as rows
engine/pool | - | threads for system calls
engine/typemap | mem | which bytes a datatype means
engine/datarep | mem typemap | data representations
engine/view | mem error typemap datarep | where a rank's data lie in the file
engine/shared | mem error | the shared file pointer
engine/prefetch | storage | what to read ahead
engine/access | mem storage typemap view prefetch | one rank's access, from view to storage
engine/tune | storage | the choice between ways of collective access, by what calls took
engine/coverage | - | coverage maps: which bytes of a window are filled
engine/store | mem storage access coverage | a window of the file goes into the file
engine/aux | fault mem storage coverage store | auxiliary processes, which store while the ranks compute
engine/file | mem storage error log hint view shared prefetch access aux | an open file, as one rank knows it
engine/ship | mem storage error prefetch access coverage file | data shipping: agents that own blocks
engine/develop | mem error file | develop mode: are all ranks in the same call, with the same arguments?
engine/move | mem error view shared pool access store aux file develop | the aggregation core: one collective access, whatever moves its data
engine/schedule | access move | in which order rounds are done
engine/exchange | mem view access coverage move | transport: messages
engine/ring | mem storage error access tune coverage aux move | transport: shared memory of a node, and messages between nodes
engine/peers | mem error shared ring | what the ranks of a communicator know of each other, kept between files
engine/direct | mem ship schedule move | transport: none, each rank accesses the file itself
engine/strategy | tune exchange ring direct move | strategies, one row each, and the choice among them
engine/control | fault mem storage error hint view shared prefetch aux peers file ship develop strategy | what all ranks of a file do besides moving data
engine/pending | pool file ship move | operations that go on meanwhile
engine/api | mem error hint typemap datarep view aux ring peers ship develop strategy file control pending | the functions of MPI
TABLE
}

# Includes against the table that are known debts, and why each is still there. None may be added; one that is paid must go.
debts()
{
    cat <<'TABLE'
TABLE
}

# The table, as docs/architecture.md shows it.
markdown()
{
    local table
    for table in layers engine bench; do
        case $table in
        layers) printf '| folder | what it is | may include |\n|---|---|---|\n' ;;
        engine) printf '\nInside of the engine:\n\n| folder | what it is | may include |\n|---|---|---|\n' ;;
        bench) printf '\nBetween benchmarks:\n\n| folder | what it is | may include |\n|---|---|---|\n' ;;
        esac
        layers | awk -F ' [|] ' -v table="$table" '
            table == "layers" ? $1 ~ "/" : $1 !~ "^" table "/" { next }
            {
                may = $2
                if (may == "-") may = "–"
                else if (may == "all") may = "all of the above but engine, tracer"
                else gsub(" ", ", ", may)
                print "| `src/" $1 "` | " $3 " | " may " |"
            }'
    done
    [ -n "$(debts)" ] || return 0
    printf '\nDebts, which go against these tables and are to be paid:\n\n'
    debts | awk -F ' [|] ' '{ split($1, edge, " "); print "- `" edge[1] "` includes `" edge[2] "`: " $2 }'
}

# The file $1 with the table between its two marks.
with_table()
{
    markdown >"$TMP/table"
    awk -v table="$TMP/table" '
        /<!-- end of the layers -->/ { inside = 0 }
        !inside
        /<!-- layers: made by/ { inside = 1; while ((getline line < table) > 0) print line }' "$1"
}

page=docs/architecture.md
if [ "${1:-}" = --write ]; then
    cd "$SOURCE"
    with_table "$page" >"$TMP/page"
    cp "$TMP/page" "$page"
    exit 0
fi

cd "${1:-$SOURCE}"
bad=0
find src include -mindepth 1 -maxdepth 2 -type d | sort >"$TMP/folders"
find src include -type f \( -name '*.[ch]' -o -name '*.def' \) | sort |
    xargs grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' >"$TMP/includes" || true
layers >"$TMP/layers"
debts >"$TMP/debts"
awk -v rows="$TMP/layers" -v debts="$TMP/debts" -v folders="$TMP/folders" '
    function wrong(text) { print text; bad = 1 }
    # The room of a path below its layer: its folder there, or the name of its file.
    function room(inner)
    {
        if (index(inner, "/")) return substr(inner, 1, index(inner, "/") - 1)
        sub(/[.][a-z]*$/, "", inner)
        return inner
    }
    # The row that speaks for a room of a layer, or "".
    function row(layer, name)
    {
        if ((layer "/" name) in known) return layer "/" name
        return (layer "/*") in known ? layer "/*" : ""
    }
    function read_rows(    line, part, word, count, i, layer, other)
    {
        while ((getline line < rows) > 0) {
            split(line, part, / [|] /)
            layer = part[1]
            sub("/.*", "", layer)
            if (layer != part[1]) rooms[layer] = 1
            if (part[2] == "all") {
                for (other in known) if (other !~ "/" && other != "engine" && other != "tracer") may[part[1], other] = 1
            } else if (part[2] != "-") {
                count = split(part[2], word, " ")
                for (i = 1; i <= count; i++) {
                    other = layer == part[1] ? word[i] : layer "/" word[i]
                    if (!(other in known)) wrong("tests/lint/layers.sh: " part[1] " names " other ", which does not stand above it")
                    may[part[1], other] = 1
                }
            }
            known[part[1]] = 1
        }
        while ((getline line < debts) > 0) {
            split(line, part, / [|] /)
            split(part[1], word, " ")
            layer = word[1]
            sub("/.*", "", layer)
            debt[word[1], layer "/" word[2]] = word[1] " includes " word[2]
        }
    }
    function check_folders(    line, path, count)
    {
        while ((getline line < folders) > 0) {
            count = split(line, path, "/")
            there[path[2] "/" path[3]] = 1
            if (path[1] != "src") continue
            if (count == 2 && !(path[2] in known) || count == 3 && (path[2] in rooms) && row(path[2], path[3]) == "")
                wrong(line ": not in the table of layers; add it to tests/lint/layers.sh with what it may include")
        }
    }
    BEGIN { read_rows(); check_folders() }
    {
        split($0, part, ":")
        where = part[1] ":" part[2]
        count = split(part[1], path, "/")
        layer = path[1] == "include" ? "piolet" : path[2]
        split($0, quoted, "\"")
        target = quoted[2]
        slash = index(target, "/")
        to = substr(target, 1, slash - 1)
        if (!slash) { wrong(where ": \"" target "\": name the layer, as in \"" layer "/" target "\""); next }
        if (to == "piolet" || count <= 2) next
        if (layer == "piolet") { wrong(where ": a public header includes \"" target "\""); next }
        if (layer != to) {
            if (!((layer, to) in may)) wrong(where ": layer " layer " may not include \"" target "\"")
            next
        }
        if (!(layer in rooms)) next
        inner = part[1]
        sub("^src/" layer "/", "", inner)
        from_room = room(inner)
        to_room = room(substr(target, slash + 1))
        from = row(layer, from_room)
        aim = row(layer, to_room)
        # What stands in the layer itself, and has no row of its own, belongs to all of the layer.
        if (from_room == to_room || !index(inner, "/") && !((layer "/" from_room) in known)) next
        if (!index(substr(target, slash + 1), "/") && !((layer "/" to_room) in known)) next
        if ((from, aim) in may) next
        if ((from, aim) in debt) { used[from, aim] = 1; next }
        wrong(where ": " layer "/" from_room " may not include \"" target "\"")
    }
    END {
        for (edge in debt) {
            split(edge, end, SUBSEP)
            if (!(edge in used) && (end[1] in there)) wrong("tests/lint/layers.sh: the debt \"" debt[edge] "\" is paid: remove its line")
        }
        exit bad
    }' "$TMP/includes" >&2 || bad=1
if [ -f "$page" ]; then
    with_table "$page" >"$TMP/page"
    diff -u "$page" "$TMP/page" >&2 || fail "$page does not show the table: run 'bash tests/lint/layers.sh --write'"
    grep -q '<!-- layers: made by' "$page" || fail "$page has lost the mark of the table"
fi
[ "$bad" -eq 0 ] || fail "includes must go one way (the table stands in tests/lint/layers.sh)"
