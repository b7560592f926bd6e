# Reads a JUnit file of ctest; prints a line for each test and writes the logs of those that failed.
#   passed TREE NAME | failed TREE NAME LOG | skipped TREE NAME REASON
# Give it -v tree=NAME -v logs=DIRECTORY.

function plain(text) {
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&apos;/, "'", text)
    gsub(/&#x[0-9A-Fa-f]+;|&#[0-9]+;/, "", text)
    gsub(/&amp;/, "\\&", text)
    return text
}

function attribute(line, name,    at, rest) {
    at = index(line, " " name "=\"")
    if (!at) return ""
    rest = substr(line, at + length(name) + 3)
    return plain(substr(rest, 1, index(rest, "\"") - 1))
}

function note(text) {
    text = plain(text)
    output[++lines] = text
    if (reason == "" && match(text, /^SKIP: /)) reason = substr(text, 7)
}

function finish(    log_file, i, kind) {
    kind = "failed"
    if (status == "run") kind = "passed"
    # Only a test that asked for it counts as skipped: a missing program is a failure.
    else if (message ~ /^SKIP_/ || status == "disabled") kind = "skipped"
    if (kind == "skipped" && reason == "") reason = status == "disabled" ? "disabled" : "no reason given"
    if (kind == "skipped") { print kind, tree, name, reason; return }
    if (kind == "passed") { print kind, tree, name; return }
    log_file = name
    gsub(/[^A-Za-z0-9_.-]/, "_", log_file)
    log_file = logs "/" log_file ".log"
    print name ": " (message == "" ? status : message) > log_file
    for (i = 1; i <= lines; i++) print output[i] > log_file
    close(log_file)
    print kind, tree, name, log_file
}

inside {
    end = index($0, "</system-out>")
    note(end ? substr($0, 1, end - 1) : $0)
    if (end) inside = 0
    next
}
/<testcase / { name = attribute($0, "name"); status = attribute($0, "status"); message = ""; reason = ""; lines = 0 }
/<failure |<skipped / { message = attribute($0, "message") }
/<system-out>/ {
    text = substr($0, index($0, "<system-out>") + 12)
    end = index(text, "</system-out>")
    note(end ? substr(text, 1, end - 1) : text)
    inside = !end
}
/<\/testcase>/ { finish() }
