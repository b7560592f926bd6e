#!/bin/sh
# page.sh PIOLET VERB SOURCE: a manual page in scdoc's language on standard output. SOURCE is its file, in which the lines
# @OPTIONS@ and @VERBS@ stand for what piolet's own tables say; where there is no such file, all of it comes from them.
set -eu
if [ ! -f "$3" ]; then
    exec "$1" help --man "$2"
fi
while IFS= read -r line; do
    case $line in
        @OPTIONS@) "$1" help --options "$2" ;;
        @VERBS@) "$1" help --options piolet ;;
        *) printf '%s\n' "$line" ;;
    esac
done <"$3"
