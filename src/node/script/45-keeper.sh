# shellcheck shell=sh disable=SC2154,SC2034
# The keeper: the parent of the job's command on the node, in a session of its own. It records the command's pid, its
# descendants and how it ended. It is a separate program (with 15-stat.sh, 17-write.sh and 20-proc.sh in front); its
# text comes on descriptor 9, the job's on standard input.
#
# The job's text is followed by a full stop, which shows that it has arrived completely.
#
# Arguments: BASE LOG RUN_ID ATTEMPT SHELL WORKDIR NONCE SETSID HOME REAPED (1: orphans become its children)

# The child, before it becomes the job: record its pid, then check whether a stop came first. The stop writes .exit and
# then looks for a pid, so at least one of the two sees the other.
mt_become_job() {
    IFS=' ' read -r mt_pid mt_rest </proc/self/stat
    mt_stat "$mt_pid"
    mt_text='' mt_owned=
    {
        while IFS= read -r mt_line; do
            case $mt_line in
            run_id=* | attempt=*) mt_owned="$mt_owned $mt_line" ;;
            room=*) continue ;;
            pid=*) mt_line=pid=$mt_pid ;;
            pgid=*) mt_line=pgid=$mt_pid ;;
            start_ticks=*) mt_line=start_ticks=$mt_st_ticks ;;
            keeper=*) mt_line=keeper=$mt_keeper ;;
            keeper_ticks=*) mt_line=keeper_ticks=$mt_keeper_ticks ;;
            esac
            mt_text="$mt_text$mt_line
"
        done <"$mt_base.state"
    } 2>/dev/null
    [ "$mt_owned" = " run_id=$mt_run_id attempt=$mt_attempt" ] || exit 125
    mt_put "$mt_base" state "$mt_text" || mt_give_up state
    mt_put "$mt_base" pid "$mt_pid
" || mt_give_up pid
    ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" || exit 143
    unset MTLAUNCH_KEEPS
    exec "$mt_setsid" "$mt_shell_path" /proc/self/fd/8 "$mt_base.stage" "$mt_workdir" "$mt_nonce" \
        "$mt_home" 8<&0 </dev/null 9<&-
}

mt_give_up() { # SUFFIX: the log says why the job does not run
    mt_find_why "$mt_base.$1.try"
    printf "mtlaunch: '%s' cannot be written: %s\n" "$mt_base.$1" "${mt_why:-unknown reason}" >&2
    exit 125
}

# Descendants of the job and of the processes noted before, from /proc/PID/task/TID/children -> mt_text. Cheap for a few
# processes.
mt_walk_children() {
    mt_all='' mt_level=$mt_adopted
    ! mt_alive "$mt_s_pid" "$mt_s_start_ticks" || mt_level="$mt_level $mt_s_pid"
    while read -r mt_p mt_t mt_rest; do
        ! mt_alive "$mt_p" "$mt_t" || mt_level="$mt_level $mt_p"
    done <<MT_NOTED
$mt_noted
MT_NOTED
    while :; do
        mt_next=
        for mt_p in $mt_level; do
            case " $mt_all" in
            *" $mt_p "*) ;;
            *)
                mt_all="$mt_all$mt_p "
                mt_next="$mt_next $mt_p"
                ;;
            esac
        done
        [ -n "$mt_next" ] || break
        mt_level=
        for mt_p in $mt_next; do
            for mt_file in /proc/"$mt_p"/task/*/children; do
                mt_line=
                # the line has no newline at its end, and a thread may have ended meanwhile
                { IFS= read -r mt_line <"$mt_file"; } 2>/dev/null
                mt_level="$mt_level $mt_line"
            done
        done
    done
    mt_text=
    for mt_p in $mt_all; do
        mt_stat "$mt_p" || continue
        mt_text="$mt_text$mt_p $mt_st_ticks $mt_st_sid
"
    done
}

# The same by a pass over all of /proc: for kernels without those files, and for many processes. The noted processes and
# the file names are passed to awk as arguments, or through a pipe when they might be too long for that. Fails when awk
# did not reach its end.
# shellcheck disable=SC2016
mt_walk_program='
function look(name) {
    if (name == "end") { whole = 1; return }
    if (substr(name, 1, 1) != "/") {
        split(name, word, " ")
        noted[word[1]] = word[2]
        return
    }
    if (!read_stat(name) || (word[1] ~ /^[ZXx]/ && word[18] + 0 <= 1)) return
    p = substr(name, 7)
    order[++count] = p
    parent[p] = word[2]
    line[p] = p " " word[20] " " word[4]
    if ((p == job && word[20] == ticks) || ((p in noted) && word[20] == noted[p])) in_run[p] = 1
}
BEGIN {
    job = ARGV[1]
    ticks = ARGV[2]
    n = split(ARGV[3], list, " ")
    for (i = 1; i <= n; i++) in_run[list[i]] = 1
    n = ARGC > 4 ? split(ARGV[4], list, "\n") : 0
    for (i = 1; i <= n; i++) look(list[i])
    for (i = 5; i < ARGC; i++) look(ARGV[i])
    piped = ARGC < 5
    ARGC = 1 # or they are taken for names of files to be read
    if (piped) while ((getline name) > 0) look(name)
    if (!whole) exit
    for (i = 1; i <= count; i++) {
        for (q = order[i]; q > 1 && (q in parent) && !(q in in_run); q = parent[q]) ;
        if (q in in_run) print line[order[i]]
    }
    print "end"
}'
mt_walk_table() {
    set -- /proc/[0-9]* end
    if [ $# -lt 2000 ] && [ "${#mt_noted}" -lt 60000 ]; then
        mt_text=$(LC_ALL=C awk "$mt_awk_stat$mt_walk_program" "$mt_s_pid" "$mt_s_start_ticks" "$mt_adopted" "$mt_noted" "$@")
    else
        mt_text=$(printf '%s\n' "$mt_noted" "$@" |
            LC_ALL=C awk "$mt_awk_stat$mt_walk_program" "$mt_s_pid" "$mt_s_start_ticks" "$mt_adopted")
    fi
    case $mt_text in
    end) mt_text= ;;
    *"
end") mt_text=${mt_text%end} ;;
    *) return 1 ;;
    esac
}

# Write the descendants of the job and of the processes noted before, with start times and sessions, to .seen ->
# mt_many, mt_same (how many passes in a row have found the same)
mt_note() {
    mt_same=$((mt_same + 1))
    if [ -n "$mt_has_children" ] && [ -z "$mt_many" ]; then
        mt_walk_children
    else
        mt_walk_table || return 0
    fi
    [ "$mt_text" != "$mt_written" ] || return 0
    mt_noted=$mt_text
    mt_many='' mt_same=0
    # shellcheck disable=SC2086 # three words a process
    set -- $mt_noted
    [ $# -le 150 ] || mt_many=1
    ! mt_put "$mt_base" seen "boot_id=$mt_boot_id
$mt_text" || mt_written=$mt_noted
}

# Children of the keeper that are not in its own session: the job and adopted orphans of it -> mt_adopted
mt_find_adopted() {
    mt_adopted='' mt_line=''
    if [ -e "/proc/$mt_keeper/task/$mt_keeper/children" ]; then
        IFS= read -r mt_line 2>/dev/null <"/proc/$mt_keeper/task/$mt_keeper/children"
    elif mt_alive "$mt_keeper" "$mt_keeper_ticks" && mt_read_table; then
        mt_line=$(printf '%s\n' "$mt_table" | awk -v parent="$mt_keeper" '$1 == "proc" && $3 == parent { print $2 }')
    fi
    for mt_p in $mt_line; do
        mt_stat "$mt_p" || continue
        [ "$mt_st_sid" != "$mt_keeper" ] || continue
        mt_alive "$mt_p" "$mt_st_ticks" || continue
        mt_adopted="$mt_adopted $mt_p"
    done
}

# Runs beside the job and updates .seen every few seconds: more often at first, less often when there are many
# processes, or when nothing has changed for a minute and orphans become children of the keeper. Ends once keeper and
# job have ended.
mt_note_on() {
    trap 'kill "$mt_sleep" 2>/dev/null; exit' TERM
    mt_wait=0.2 mt_has_children='' mt_many='' mt_same=0
    for mt_p in /proc/self/task/*/children; do
        [ ! -e "$mt_p" ] || mt_has_children=1
    done
    while :; do
        mt_sleep=
        sleep "$mt_wait" 2>/dev/null &
        mt_sleep=$!
        wait "$mt_sleep" || sleep 1
        case $mt_wait in
        0.2) mt_wait=0.5 ;;
        0.5) mt_wait=1 ;;
        *)
            mt_wait=3
            [ -z "$mt_many" ] && { [ -z "$mt_reaped" ] || [ "$mt_same" -lt 20 ]; } || mt_wait=10
            ;;
        esac
        mt_still_ours || exit
        mt_find_adopted
        mt_note
        mt_alive "$mt_keeper" "$mt_keeper_ticks" && continue
        mt_alive "$mt_s_pid" "$mt_s_start_ticks" || exit
        mt_reaped=
    done
}

# A disk error must not lose the exit status: retry until it is written, or .state was removed or replaced.
mt_record_exit() {
    mt_wait=0.1
    until mt_is_usurped; do
        ! mt_write_exit "$mt_base" "$mt_run_id" "$mt_attempt" "$mt_status" "$mt_never_ran" || break
        mt_still_ours || break
        mt_pause "$mt_wait"
        case $mt_wait in
        0.1) mt_wait=1 ;;
        1) mt_wait=5 ;;
        esac
    done
    mt_leaf=${mt_base%/*}/.${mt_base##*/}
    set -- "$mt_leaf.exit.$$" "$mt_leaf.exit.room.$$"
    mt_is_usurped || set -- "$@" "$mt_leaf.exit.new" "$mt_leaf.state.new" "$mt_leaf.pid.new"
    ! mt_still_ours || set -- "$@" "$mt_base.stage"
    rm -f "$@"
}

# A shell that cannot fork exits. The exit of the job is then recorded without a fork, and so without a rename: readers
# reject a record that lacks its last lines.
# shellcheck disable=SC2317 # called by the trap
mt_on_exit() {
    mt_code=$?
    [ "$mt_code" != 0 ] && ! mt_is_usurped || return
    if [ -z "$mt_status" ]; then
        mt_still_ours && [ -z "$mt_s_pid" ] || return
        mt_status=126
        printf 'mtlaunch: cannot fork: the process limit of this user, of the service or of the container is reached\n' \
            2>/dev/null >>"$mt_log"
    fi
    ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" || return
    IFS=' ' read -r mt_up mt_rest </proc/uptime
    mt_ended_up=${mt_ended_up:-$mt_up}
    if [ -z "$mt_ended" ]; then
        while read -r mt_line mt_value; do
            [ "$mt_line" != btime ] || mt_ended=$((mt_value + ${mt_ended_up%.*}))
        done </proc/stat
    fi
    printf 'status=%s\nsignal=%s\nended=%s\nuptime=%s\nsetup_line=%s\nrun_id=%s\nattempt=%s\n' "$mt_status" \
        "$mt_signal" "$mt_ended" "$mt_ended_up" "$mt_never_ran" "$mt_run_id" "$mt_attempt" 2>/dev/null >"$mt_base.exit"
}

mt_keep() {
    exec 9<&-
    mt_status='' mt_signal='' mt_never_ran='' mt_ended='' mt_ended_up=''
    trap mt_on_exit EXIT
    trap : HUP INT QUIT TERM USR1 USR2 PIPE
    mt_base=$1 mt_log=$2 mt_run_id=$3 mt_attempt=$4 mt_shell_path=$5 mt_workdir=$6 mt_nonce=$7 mt_setsid=$8
    mt_home=$9
    shift 9
    mt_reaped=$1
    mt_job=$(cat)
    case $mt_job in
    *.) mt_job=${mt_job%.} ;;
    *) exit 1 ;;
    esac
    exec </dev/null
    mt_keeper=$$
    mt_stat "$$"
    mt_keeper_ticks=$mt_st_ticks
    read -r mt_boot_id </proc/sys/kernel/random/boot_id
    mt_still_ours || exit 0
    ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" || exit 0
    mt_adopted='' mt_noted='' mt_written=''
    (mt_note_on) </dev/null >/dev/null 2>&1 &
    mt_noter=$!
    # the status is that of the last command of the pipeline; the job's shell reads its text from the pipe
    printf '%s' "$mt_job" | (mt_become_job) >>"$mt_log" 2>&1
    mt_status=$?
    IFS=' ' read -r mt_ended_up mt_rest </proc/uptime
    mt_stage=
    {
        while IFS= read -r mt_line; do mt_stage=$mt_line; done <"$mt_base.stage"
    } 2>/dev/null
    case $mt_stage in
    cd) mt_never_ran=0 ;;
    'setup '*) mt_never_ran=${mt_stage#setup } ;;
    esac
    # if a setup line ended the shell with 0, the command did not run either: this is a failure
    [ -z "$mt_never_ran" ] || [ "$mt_status" != 0 ] || mt_status=1
    # from here on the shell may fail to fork, see mt_on_exit
    mt_name_signal "$mt_status"
    mt_ended=$(date +%s)
    mt_record_exit
    # wait for children that outlive the command
    mt_wait=0.1
    while :; do
        mt_find_adopted
        [ -n "$mt_adopted" ] || break
        mt_still_ours || break
        mt_pause "$mt_wait"
        case $mt_wait in
        0.1) mt_wait=0.5 ;;
        *) mt_wait=2 ;;
        esac
    done
    kill "$mt_noter" 2>/dev/null
    wait "$mt_noter" 2>/dev/null
    # files that the noter had reserved, or was about to write
    mt_leaf=${mt_base%/*}/.${mt_base##*/}.seen
    mt_is_usurped || rm -f "$mt_leaf.new" "$mt_leaf.back" "$mt_leaf.$$" "$mt_leaf.room.$$"
    exit 0
}
