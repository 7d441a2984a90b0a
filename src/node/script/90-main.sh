# shellcheck shell=sh disable=SC2154
# Everything above only defines functions and constants; the values of the call were assigned before it.

# A shell that cannot fork exits at once, with status 2 (dash, busybox) or 254 (bash). It still reports why, using only
# builtins that all of them have, and no characters for which mt_encode would fork.
# shellcheck disable=SC2317 # called by the trap
mt_on_exit() {
    mt_code=$?
    if [ -z "$mt_answered" ] && [ "$mt_code" != 0 ]; then
        case $mt_code in
        2 | 254) mt_unproven='cannot fork' ;;
        *) mt_unproven=${mt_unproven:-the shell ended with status $mt_code} ;;
        esac
        mt_explain_unproven
        case $mt_verb in
        stop) mt_stop_known ;;
        observe) mt_observe_rest ;;
        *) mt_frame_unproven ;;
        esac
        printf '\n@@%s end=ok\n' "$mt_nonce"
    fi
    [ -z "$mt_watcher" ] || kill "$mt_watcher" 2>/dev/null
    [ -z "$mt_tmp" ] || rm -rf "$mt_tmp"
}

unset IFS
set +e +u
mt_answered='' mt_tmp='' mt_watcher='' mt_unproven=''
# shellcheck disable=SC2034 # 22-scan.sh reads it
mt_attempts='[0-9]+'
trap mt_on_exit EXIT
mt_find_place
"mt_verb_$mt_verb"
exit 0
