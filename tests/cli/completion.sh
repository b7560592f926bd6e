#!/usr/bin/env bash
# Completion in a shell, from the tables of verbs and options.
# proves: IOT-5
# It would fail if a verb, an option, its words or a command of a verb did not complete, or if a script were no shell.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

"$PIOLET" help --completion bash >piolet.bash || fail "no completion for bash"
# shellcheck disable=SC1091  # made just now
source piolet.bash
touch results.out
mkdir place

# completes WORDS LINE...: the words that are offered for the last one of the line
completes()
{
    local expected=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _piolet || : # a compgen that finds nothing fails
    [ "${COMPREPLY[*]}" = "$expected" ] || fail "'$*' gives '${COMPREPLY[*]}' in the place of '$expected'"
}

completes metadata piolet meta
completes --layout piolet metadata --la
completes --layout piolet bench metadata --la
completes 'shared own' piolet metadata --layout ''
completes shared piolet metadata --layout = s
completes place piolet metadata --on p
completes regressions piolet history reg
completes quantities piolet analyze quan
completes results.out piolet analyze metadata res
completes 'system' piolet replay --mpiio sys
completes '' piolet metadata --files ''
for shell in zsh fish; do
    "$PIOLET" help --completion $shell >piolet.$shell || fail "no completion for $shell"
    grep -q -- 'layout' piolet.$shell || fail "no option of metadata for $shell"
    ! command -v $shell >/dev/null || $shell -n piolet.$shell || fail "$shell does not read its completion"
done
expect_exit 2 "$PIOLET" help --completion tcsh
expect_in "$ERR" "allowed: bash, zsh, fish"

# ---- did you mean ----

while IFS='|' read -r words arguments; do
    # shellcheck disable=SC2086  # several arguments
    expect_exit 2 "$PIOLET" $arguments
    expect_in "$ERR" "$words"
done <<'END'
did you mean 'analyze'|anlyze
did you mean 'metadata'|bench metdata
did you mean 'metadata'|analyze metdata results.out
did you mean 'compare'|history comapre
did you mean --hints|preload --hnits x true
did you mean --layout|metadata --layuot own
END
