# Pairs of files, or of places in one, that share a run of six or more lines (duplicates.sh): prints "LINES FILE:A-B ~ FILE:C-D",
# with "shape" behind it where the run is not the same to the letter: its lines differ in names, strings and numbers.
#
# Passed over: blank lines, comments, lone punctuation, include and import lines, rows of tables ("{…}," and "row(…),"). Boilerplate, not printed: a run that stands
# in more than eight places (tables, switches), and one alike in shape alone most of whose lines have shapes that stand in
# more than five files (declarations, returns, checks of a status).
BEGIN {
    SIX = 6
    PLACES = 8
    FILES = 5
    words = split("if else elif for while do switch case default break continue return goto static const struct enum union " \
        "sizeof void int char double long size_t bool true false NULL typedef unsigned local then fi done esac in function " \
        "end subroutine call integer let type interface export new null undefined", word, " ")
    for (i = 1; i <= words; i++)
        keyword[word[i]] = 1
}

# Names become i, numbers 0, strings s; keywords and punctuation stay.
function shape_of(text,    out, name)
{
    gsub(/"([^"\\]|\\.)*"/, "\001", text)
    gsub(/'([^'\\]|\\.)*'/, "\001", text)
    out = ""
    while (match(text, /[A-Za-z_$][A-Za-z_0-9]*|[0-9][0-9A-Za-z_.]*/)) {
        name = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1) (name ~ /^[0-9]/ ? "0" : name in keyword ? name : "i")
        text = substr(text, RSTART + RLENGTH)
    }
    out = out text
    gsub(/\001/, "s", out)
    gsub(/ /, "", out)
    return out
}

function number_of(text)
{
    if (!(text in numbers))
        numbers[text] = ++number_count
    return numbers[text]
}

FNR == 1 {
    name[++file] = FILENAME
    in_comment = 0
    comment = FILENAME ~ /\.(c|h|ts|mjs)$/ ? "c" : FILENAME ~ /\.(F90|f)$/ ? "fortran" : "hash"
}

{
    text = $0
    if (in_comment) {
        if (!match(text, /\*\//))
            next
        text = substr(text, RSTART + 2)
        in_comment = 0
    }
    if (comment == "hash")
        sub(/(^|[ \t])#.*$/, "", text)
    else if (comment == "fortran")
        sub(/!.*$/, "", text)
    else {
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
        sub(/(^|[ \t;])\/\/.*$/, "", text)
        if (match(text, /\/\*/)) {
            text = substr(text, 1, RSTART - 1)
            in_comment = 1
        }
        if (text ~ /^[ \t]*#[ \t]*include/ || text ~ /^import /)
            next
    }
    gsub(/[ \t]+/, " ", text)
    gsub(/^ | $/, "", text)
    if (text !~ /[A-Za-z0-9_]/ || text ~ /^\{.*\},?$|^[A-Za-z_][A-Za-z_0-9]*\(.*\),$/)
        next
    lines++
    file_of[lines] = file
    line_of[lines] = FNR
    exact[lines] = number_of(text)
    shape[lines] = number_of("shape " shape_of(text))
    if (!((shape[lines], file) in seen)) {
        seen[shape[lines], file] = 1
        files_with[shape[lines]]++
    }
}

# The six lines from `at` on, as one word.
function window(line, at,    text, i)
{
    text = line[at]
    for (i = at + 1; i < at + SIX; i++)
        text = text " " line[i]
    return text
}

function find_runs(    at, other, i, n, place, place_list, key, diagonal, same)
{
    for (at = 1; at + SIX - 1 <= lines; at++)
        if (file_of[at] == file_of[at + SIX - 1]) {
            key_of[at] = number_of("window " window(shape, at))
            places[key_of[at]] = places[key_of[at]] " " at
            count[key_of[at]]++
            exact_key_of[at] = number_of("exactly " window(exact, at))
            count[exact_key_of[at]]++
        }
    for (at = 1; at + SIX - 1 <= lines; at++) {
        key = key_of[at]
        if (count[key] < 2)
            continue
        n = split(places[key], place_list, " ")
        for (i = 1; i <= n; i++) {
            other = place_list[i]
            same = exact_key_of[at] == exact_key_of[other]
            if (other <= at || (file_of[at] == file_of[other] && other - at < SIX))
                continue
            if (count[same ? exact_key_of[at] : key] > PLACES)
                continue
            diagonal = file_of[other] " " (other - at)
            if (!((diagonal in last) && last[diagonal] == at - 1)) {
                run[diagonal] = ++runs
                first[runs] = at
                distance[runs] = other - at
            }
            last[diagonal] = at
            end[run[diagonal]] = at + SIX - 1
            if (same)
                to_the_letter[run[diagonal]] = 1
        }
    }
}

function is_boilerplate(r,    i, rare)
{
    if (to_the_letter[r])
        return 0
    for (i = first[r]; i <= end[r]; i++)
        if (files_with[shape[i]] <= FILES)
            rare++
    return 2 * rare <= end[r] - first[r] + 1
}

# The longest run of each pair of files stands for all.
END {
    find_runs()
    for (r = 1; r <= runs; r++) {
        pair = file_of[first[r]] " " file_of[first[r] + distance[r]]
        if (!is_boilerplate(r) && (!(pair in best) || end[r] - first[r] > end[best[pair]] - first[best[pair]]))
            best[pair] = r
    }
    for (pair in best) {
        r = best[pair]
        other = first[r] + distance[r]
        printf "%d %s:%d-%d ~ %s:%d-%d%s\n", end[r] - first[r] + 1, name[file_of[first[r]]], line_of[first[r]], line_of[end[r]],
            name[file_of[other]], line_of[other], line_of[end[r] + distance[r]], to_the_letter[r] ? "" : " shape"
    }
}
