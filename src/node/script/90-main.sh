# shellcheck shell=sh disable=SC2154
# Everything above only defines; values were assigned before it.

unset IFS
set +e +u
mt_look_around
"mt_verb_$mt_verb"
exit 0
