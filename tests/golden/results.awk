# Compares what is expected with what was found (results.sh); prints "compared N", or what differs and ends with status 1.
#   awk -v kind=quantities|table|numbers -f results.awk EXPECTED FOUND
#   awk -v kind=fields -v fields=NAME,... -f results.awk FILE.csv     the columns of these names, separated by tabs

function split_csv(line, cells,    n, i, c, quoted, cell)
{
    n = 0
    cell = ""
    quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"")
            if (quoted && substr(line, i + 1, 1) == "\"") {
                cell = cell c
                i++
            } else
                quoted = !quoted
        else if (c == "," && !quoted) {
            cells[++n] = cell
            cell = ""
        } else
            cell = cell c
    }
    cells[++n] = cell
    return n
}

function is_number(text) { return text ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ }

function magnitude(x) { return x < 0 ? -x : x }

# Intervals: the Student's t of 0.1.0 came from a table, with three digits behind the point and steps between its rows.
function same(name, a, b)
{
    if (!is_number(a) || !is_number(b))
        return a == b
    return magnitude(a - b) <= magnitude(a) * (name ~ /(error|low|high|noise)(_|$)/ ? 1e-3 : 1e-9)
}

function differs(text)
{
    print text
    wrong++
}

# Tells of a line in several parts where a quoted cell holds line ends.
function whole(line,    text) { text = line; return gsub(/"/, "", text) % 2 == 0 }

FNR == 1 { file++; rows = 0; pending = "" }

{
    pending = pending == "" ? $0 : pending "\n" $0
    if (kind != "quantities" && kind != "numbers" && !whole(pending))
        next
    line = pending
    pending = ""
    rows++
}

kind == "fields" {
    n = split_csv(line, cells)
    if (rows == 1) {
        for (i = 1; i <= n; i++)
            column[cells[i]] = i
        wanted = split(fields, field, ",")
        for (i = 1; i <= wanted; i++)
            if (!(field[i] in column)) {
                print "no column " field[i]
                exit 1
            }
        next
    }
    text = cells[column[field[1]]]
    for (i = 2; i <= wanted; i++)
        text = text "\t" cells[column[field[i]]]
    print text
    next
}

# The value is behind the last tab, the name before it.
kind == "quantities" || kind == "numbers" {
    cut = match(line, /\t[^\t]*$/)
    name = kind == "numbers" ? "a number" : substr(line, 1, cut - 1)
    value = substr(line, cut + 1)
    if (file == 1) {
        expected[++count] = line
        expected_name[count] = name
        expected_value[count] = value
    } else
        found[name, ++found_count[name]] = value
    next
}

kind == "table" && file == 1 { expected[++count] = line; next }

kind == "table" && rows == 1 {
    n = split_csv(line, cells)
    for (i = 1; i <= n; i++)
        column[cells[i]] = i
    old_columns = split_csv(expected[1], title)
    for (i = 1; i <= old_columns; i++)
        if (!(title[i] in column))
            differs("the column " title[i] " is gone")
    next
}

kind == "table" {
    split_csv(line, cells)
    split_csv(expected[rows], old)
    if (rows > count)
        next # told at the end
    for (i = 1; i <= old_columns; i++) {
        if (!(title[i] in column) || title[i] == "reason" || title[i] == "source") # prose
            continue
        compared++
        if (!same(title[i], old[i], cells[column[title[i]]]))
            differs("row " rows ", " title[i] ": " old[i] " was expected, not " cells[column[title[i]]])
    }
}

END {
    if (kind == "fields")
        exit
    if (count && file < 2)
        differs("nothing was found")
    if (kind == "table" && rows != count)
        differs(rows " rows, not " count)
    for (i = 1; kind != "table" && i <= count; i++) {
        name = expected_name[i]
        there = 0
        for (j = 1; j <= found_count[name] && !there; j++)
            if (same(name, expected_value[i], found[name, j])) {
                there = 1
                if (kind == "quantities") # each stands for one
                    found[name, j] = "taken"
            }
        compared++
        if (!there)
            differs("not found: " expected[i])
    }
    print "compared " compared + 0
    exit wrong > 0
}
