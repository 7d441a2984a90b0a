# shellcheck shell=bash
# Completion of mtlaunch for bash: mtlaunch itself lists what may be typed at the cursor.
_mtlaunch() {
    local i word line files='' specs='' join='' cur=${COMP_WORDS[COMP_CWORD]}
    local -a words=()
    COMPREPLY=()
    # bash splits --color=auto into three words
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == = && ${#words[@]} -gt 0 ]]; then
            words[${#words[@]} - 1]+='='
            join=1
        elif [[ -n $join ]]; then
            words[${#words[@]} - 1]+=$word
            join=''
        else
            words+=("$word")
        fi
    done
    [[ $cur != = ]] || cur=''
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            files=1
            continue
        fi
        if [[ $line == :specs ]]; then
            specs=1
            continue
        fi
        line=${line%%$'\t'*}
        [[ ${words[${#words[@]} - 1]} != --*=* ]] || line=${line#*=}
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]/#\~/$HOME}" completion candidates -- "${words[@]}" 2>/dev/null)
    # no blank after "key=", because its value follows
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
    if [[ -n $specs ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -d -- "$cur"; compgen -f -X '!*.yaml' -- "$cur"; compgen -f -X '!*.yml' -- "$cur")
    fi
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$cur")
    fi
}
complete -F _mtlaunch mtlaunch
