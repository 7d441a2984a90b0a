# shellcheck shell=sh disable=SC2154,SC2034
# Other runs that live on this node, as far as they can be known: by the marks of processes whose environment may be
# read, by the command line of another user's keeper, and by the records in the same artifacts folder. Facts: run="RUN_ID USER", one
# a run, at most mt_others_max; looked=1.

mt_others_max=16

mt_is_run_id() { # TEXT: a run's name, "-" and eight hexadecimal digits
    mt_rest=${1%-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]}
    case $mt_rest in
    "$1" | '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) return 1 ;;
    esac
    [ "${#mt_rest}" -le 64 ]
}

mt_frame_other() { # RUN_ID; its user is mt_s_user or, where that is no plain name, mt_s_uid
    case $mt_told in
    *" $1 "*) return 0 ;;
    esac
    mt_is_run_id "$1" && [ "$1" != "$mt_run_id" ] && [ "$mt_others" -lt "$mt_others_max" ] || return 0
    case $mt_s_user in
    '' | *[!A-Za-z0-9._@+-]*) mt_s_user=$mt_s_uid ;;
    esac
    [ -n "$mt_s_user" ] || return 0 # the process went before its owner could be seen
    mt_others=$((mt_others + 1)) mt_told="$mt_told$1 "
    mt_frame run "$1 $mt_s_user"
}

mt_without() { # LIST MEMBERS, with a blank before and behind each -> mt_left
    mt_left=
    for mt_p in $1; do
        case $2 in
        *" $mt_p "*) ;;
        *) mt_left="$mt_left $mt_p" ;;
        esac
    done
}

# Of the processes that the scan found with a mark: one of each run tells its name, the others are left out then.
mt_find_marked_others() {
    mt_without "$mt_all" "$mt_own"
    [ -n "$mt_left" ] || return 0
    mt_list_environs "$mt_left"
    mt_grep_environs "$mt_list" "$mt_list_batches" 'MTLAUNCH_MARK=[A-Za-z0-9._-]+-[0-9a-f]{8}[.][0-9]+[.][0-9]+' || return 0
    mt_left=$mt_hits
    while [ -n "${mt_left# }" ] && [ "$mt_others" -lt "$mt_others_max" ]; do
        mt_first=${mt_left# }
        mt_first=${mt_first%% *}
        mt_other=$(tr '\0' '\n' 2>/dev/null <"/proc/$mt_first/environ" | sed -n 's/^MTLAUNCH_MARK=//p' | head -n 1)
        mt_other=${mt_other%.*.*}
        mt_hits=
        if mt_is_run_id "$mt_other"; then
            mt_find_user "$mt_first"
            mt_frame_other "$mt_other"
            mt_escape "$mt_other"
            mt_list_environs "$mt_left"
            mt_grep_environs "$mt_list" "$mt_list_batches" "MTLAUNCH_MARK=${mt_id}[.][0-9]+[.][0-9]+" || return 0
        fi
        mt_without "$mt_left" " $mt_first $mt_hits"
    done
}

# The environment of another user's processes cannot be read; the words of a keeper can: "/proc/self/fd/9 BASE LOG RUN_ID".
mt_find_keepers() {
    mt_text=$(printf '%s\n' "$mt_table" | sed -n 's,^env \(/proc/[0-9]*/\)environ$,\1cmdline,p' |
        xargs -n 400 grep -lzsxF -e /proc/self/fd/9 2>/dev/null | head -n 64)
    for mt_file in $mt_text; do
        mt_other=$(tr '\0' '\n' 2>/dev/null <"$mt_file" | sed -n '/^\/proc\/self\/fd\/9$/{n;n;n;p;q;}')
        mt_p=${mt_file#/proc/}
        case $mt_told in
        *" $mt_other "*) continue ;;
        esac
        mt_find_user "${mt_p%/cmdline}"
        mt_frame_other "$mt_other"
    done
}

mt_find_recorded() {
    for mt_file in "$mt_states"/*_node*.state; do
        if [ ! -e "${mt_file%.state}.exit" ] && mt_read_state "$mt_file" && mt_is_here &&
            mt_alive "$mt_s_pid" "$mt_s_start_ticks"; then
            mt_frame_other "$mt_s_run_id"
        fi
    done
}

# After the scan of the check before it, with what that has found. This only warns: what cannot be found out is left out.
mt_check_others() {
    [ -n "$mt_scanned" ] || return 0
    mt_told=' ' mt_others=0
    mt_find_marked_others
    mt_find_keepers
    mt_find_recorded
    mt_frame looked 1
}
