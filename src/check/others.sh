# shellcheck shell=sh disable=SC2154,SC2034
# Finds other runs on this node, as far as possible: by the marks of processes whose environment can be read, by the
# command line of another user's keeper, and by the records in the same artifacts folder. Facts: run="RUN_ID USER",
# one per run, at most mt_others_max; looked=1.

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
    [ -n "$mt_s_user" ] || return 0 # the process ended before its owner was read
    mt_others=$((mt_others + 1)) mt_told="$mt_told$1 "
    mt_frame run "$1 $mt_s_user"
}

# One of the marked processes of each run, as found by the scan.
mt_find_marked_others() {
    # shellcheck disable=SC2086 # words without blanks
    set -- $mt_marks
    while [ $# -ge 3 ]; do
        mt_other=${3#MTLAUNCH_MARK=}
        mt_other=${mt_other%.*.*}
        case $mt_told$mt_run_id in
        *" $mt_other "* | *" $mt_other") ;;
        *)
            if mt_is_run_id "$mt_other"; then
                mt_find_user "$2"
                mt_frame_other "$mt_other"
            fi
            ;;
        esac
        shift 3
    done
}

# The environment of another user's processes cannot be read, but the command line of a keeper can: "/proc/self/fd/9
# BASE LOG RUN_ID".
mt_find_keepers() {
    mt_list=
    for mt_file in $mt_table; do
        case $mt_file in
        */environ) mt_list="$mt_list ${mt_file%environ}cmdline" ;;
        stuck) break ;;
        esac
    done
    mt_count=0
    # shellcheck disable=SC2013,SC2086 # the names hold no blanks
    for mt_file in $(grep -lzsxF -e /proc/self/fd/9 $mt_list 2>/dev/null); do
        mt_count=$((mt_count + 1))
        [ "$mt_count" -le 64 ] || break
        mt_p=${mt_file#/proc/}
        mt_p=${mt_p%/cmdline}
        case $mt_marks in
        *"mark $mt_p MTLAUNCH_KEEPS="*)
            mt_other=${mt_marks#*"mark $mt_p MTLAUNCH_KEEPS="}
            mt_other=${mt_other%%
*}
            mt_other=${mt_other%.*.*}
            ;;
        *) mt_other=$(tr '\0' '\n' 2>/dev/null <"$mt_file" | sed -n '/^\/proc\/self\/fd\/9$/{n;n;n;p;q;}') ;;
        esac
        case $mt_told in
        *" $mt_other "*) continue ;;
        esac
        mt_find_user "$mt_p"
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

# Uses the results of the scan of the check 'earlier'. This check only warns, so what cannot be found out is left
# out.
mt_check_others() {
    [ -n "$mt_scanned" ] || return 0
    mt_told=' ' mt_others=0
    mt_find_marked_others
    mt_find_keepers
    mt_find_recorded
    mt_frame looked 1
}
