# shellcheck shell=sh disable=SC2154,SC2034
# Runs a command that does not belong to a run; its words are the positional parameters. This shell becomes the command,
# so that the caller sees its exit status or signal unchanged. A watchdog beside it (86-watchdog.sh) ends the command's
# process group when the connection ends or the time limit passes.

unset IFS
set +e +u
mt_stat "$$" || {
    printf '\n@@%s lacks /proc\n' "$mt_nonce"
    exit 97
}
command -v setsid >/dev/null 2>&1 || {
    printf '\n@@%s lacks setsid\n' "$mt_nonce"
    exit 97
}
mt_group=
[ "$mt_st_pgrp" = "$$" ] || mt_group=setsid # a group of its own: this shell leads none, so it does not fork
exec 3<&0
if [ -n "$mt_input" ]; then
    (setsid /bin/sh -c "$mt_watchdog" mt_watchdog "$$" "$mt_st_ticks" "$mt_st_ppid" "$mt_limit" "$mt_mark" "$mt_nonce" \
        3<&- </dev/null >/dev/null 2>&1 &)
else
    (setsid /bin/sh -c "$mt_watchdog" mt_watchdog "$$" "$mt_st_ticks" '' "$mt_limit" "$mt_mark" "$mt_nonce" \
        <&3 3<&- >/dev/null 2>&1 &)
    exec </dev/null
fi
exec 3<&-
printf '\n@@%s runs\n' "$mt_nonce" >&2
printf '\n@@%s runs\n' "$mt_nonce"
export MTLAUNCH_EXEC="$mt_mark"
exec $mt_group "$@"
