# bash completion for perfblock. `perfblock help --generate options [COMMAND]` prints what can follow: a row for each
# option, and a row * for other arguments; each with the kind of its value, and the words that are accepted.
_perfblock() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} line=" ${COMP_WORDS[*]:0:COMP_CWORD} "
    local first=1 depth rows name kind words options='' value='' values='' rest='' arguments=''
    COMPREPLY=()
    if [[ $current == = ]]; then # bash splits --format=json into three words
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # The argument of help is a command, as at the beginning of the line.
    [[ $line == *' help '* && $current != -* && $previous != --generate ]] && first=2
    for ((depth = 0; first + depth <= COMP_CWORD; depth++)); do
        rows=$("${COMP_WORDS[0]}" help --generate options "${COMP_WORDS[@]:first:depth}" 2>/dev/null) || return
        [[ $rows == '* commands '* ]] || break
    done
    [[ $first == 2 && $rows != '* commands '* ]] && return
    while read -r name kind words; do
        if [[ $name == '*' ]]; then
            rest=$kind arguments=$words
        else
            options+=" $name"
            [[ $name == "$previous" && $kind != flag ]] && value=$kind values=$words
        fi
    done <<<"$rows"
    if [[ $rest == program && $line == *' -- '* ]]; then
        value=program
    elif [[ ! $value && $current == -* ]]; then
        value=words values=$options
    elif [[ ! $value ]]; then
        value=$rest values=$arguments
    fi
    local IFS=$' \n'
    case $value in
    words | commands) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
    program) COMPREPLY=($(compgen -c -f -- "$current")) ;;
    file)
        IFS=$'\n'
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$current"))
        ;;
    esac
}
complete -F _perfblock perfblock
