# From the MPI's header, preprocessed, and tracer_comm.def: a line COMM_KIND(name, (parameters), (arguments)[, communicator]) for
# each function that both have. Usage: awk -f tracer_comm.awk tracer_comm.def HEADER
FNR == NR {
    if (match($0, /^COMM\([A-Za-z_]+, [A-Z]+\)$/)) {
        split(substr($0, 6, length($0) - 6), parts, ", ")
        kind[parts[1]] = kind[parts[1] "_c"] = parts[2]
        order[++count] = parts[1]
        order[++count] = parts[1] "_c"
    }
    next
}
{ gsub(/[ \t]+/, " "); text = text " " $0 }
/;/ { declaration(text); text = "" }

# " … int MPI_Name(type name, type name[]) …;"
function declaration(line,    name, begin, end, list)
{
    if (!match(line, / MPI_[A-Za-z_]+ ?\(/))
        return
    begin = RSTART + RLENGTH
    name = substr(line, RSTART + 5, RLENGTH - 6)
    sub(/ $/, "", name)
    end = index(substr(line, begin), ")")
    list = substr(line, begin, end - 1)
    if (name in kind && !(name in parameters) && list !~ /\(/)
        parameters[name] = list
}

# The names of the parameters: the last word of each, without the brackets of arrays.
function arguments(list,    words, n, i, word, all)
{
    n = split(list, words, ",")
    for (i = 1; i <= n; i++) {
        word = words[i]
        sub(/(\[[^]]*\])+ *$/, "", word)
        sub(/ +$/, "", word)
        sub(/.*[ *]/, "", word)
        all = all (i > 1 ? ", " : "") word
    }
    return all
}

END {
    for (i = 1; i <= count; i++) {
        name = order[i]
        if (!(name in parameters))
            continue
        passed = arguments(parameters[name])
        extra = ""
        if (kind[name] == "COLL" && match(parameters[name], /MPI_Comm [a-z_]+/))
            extra = ", " substr(parameters[name], RSTART + 9, RLENGTH - 9)
        printf "COMM_%s(%s, (%s), (%s)%s)\n", kind[name], name, parameters[name], passed, extra
    }
}
