#compdef mtlaunch
# Completion of mtlaunch for zsh: mtlaunch itself lists what may be typed at the cursor.
_mtlaunch() {
    local line word files=0 specs=0 cut=0
    local -a found before
    before=("${(@Q)words[2,CURRENT-1]}")
    [[ $PREFIX == --*=* ]] && cut=1
    for line in "${(@f)$(${(Q)~words[1]} completion candidates -- "${before[@]}" "$PREFIX" 2>/dev/null)}"; do
        case $line in
            :files) files=1; continue ;;
            :specs) specs=1; continue ;;
            '') continue ;;
        esac
        word=${line%%$'\t'*}
        (( cut )) && word=${word#*=}
        if [[ $line == *$'\t'* ]]; then
            found+=("${word//:/\\:}:${line#*$'\t'}")
        else
            found+=("${word//:/\\:}")
        fi
    done
    (( cut )) && compset -P '*='
    (( $#found )) && _describe -V mtlaunch found
    (( files )) && _files
    (( specs )) && _files -g '*.(yaml|yml)'
    return 0
}
if [[ $funcstack[1] == _mtlaunch ]]; then
    _mtlaunch "$@"
elif (( $+functions[compdef] )); then
    compdef _mtlaunch mtlaunch
fi
