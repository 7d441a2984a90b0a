# shellcheck shell=sh disable=SC2154,SC2034
# Finds the folders of a node, and checks whether the files in them can be trusted.

# NAME -> mt_path: the path of this program in PATH; fails when it is not found. "command -v" would cost a fork.
mt_find_tool() {
    IFS=:
    set -f
    for mt_path in $PATH; do
        mt_path=${mt_path:-.}/$1
        if [ -f "$mt_path" ] && [ -x "$mt_path" ]; then
            unset IFS
            set +f
            return 0
        fi
    done
    unset IFS
    set +f
    mt_path=
    return 1
}

# Facts about this machine -> mt_host mt_boot_id mt_uid mt_cpus mt_home, without a fork. Also checks for the required
# tools.
mt_find_place() {
    for mt_file in /proc/self/stat /proc/uptime /proc/sys/kernel/random/boot_id /proc/sys/kernel/hostname; do
        [ -r "$mt_file" ] || mt_fail unsupported /proc
    done
    read -r mt_host </proc/sys/kernel/hostname
    read -r mt_boot_id </proc/sys/kernel/random/boot_id
    mt_uid='' mt_cpus=''
    while read -r mt_line mt_rest mt_number mt_value; do
        case $mt_line in
        Uid:) mt_uid=$mt_number ;;
        Cpus_allowed_list:) mt_cpus=$mt_rest ;;
        esac
    done </proc/self/status
    mt_home=${HOME:-}
    case $mt_home in
    /*) ;;
    *) mt_home=$(awk -F: -v uid="$mt_uid" '$3 == uid { print $6; exit }' /etc/passwd 2>/dev/null) ;;
    esac
    [ -n "$mt_home" ] && [ -d "$mt_home" ] || mt_home=$PWD
    mt_missing=
    for mt_tool in setsid awk grep sed tr od head tail sleep mv rm mkdir ls id date xargs wc cat dd; do
        command -v "$mt_tool" >/dev/null || mt_missing="$mt_missing $mt_tool"
    done
    [ -n "$mt_missing" ] || return 0
    # a stop does what it can without them
    [ "$mt_verb" = stop ] || mt_fail unsupported "${mt_missing# }"
    mt_unproven="${mt_missing# } is missing"
    exit 1
}

mt_absolute() { # PATH, "~/…" or relative to the login folder -> mt_path
    case $1 in
    /*) mt_path=$1 ;;
    [~]) mt_path=$mt_home ;;
    [~]/*) mt_path=${mt_home%/}/${1#??} ;;
    *) mt_path=${mt_home%/}/$1 ;;
    esac
}

# The job's working folder: as in the spec, else the login folder, or in a container the folder in which this shell
# started.
mt_set_workdir() {
    mt_path=$PWD
    case $mt_inside$mt_workdir in
    1) ;;
    *) mt_absolute "${mt_workdir:-$mt_home}" ;;
    esac
    mt_workdir=$mt_path
}

mt_set_paths() {
    mt_absolute "${mt_artifacts:-.mtlaunch}"
    mt_artifacts=$mt_path
    mt_logs=${mt_artifacts%/}/logs
    mt_states=${mt_artifacts%/}/run_state
    mt_name=${mt_run}_node$mt_rank
    mt_base=$mt_states/$mt_name
    mt_log=$mt_logs/$mt_name.log
}

# Can the existing files be trusted? run_state must be a folder of this user, and none of the run's files a symlink:
# files of somebody else would name pids to signal. -> mt_problem, empty when all is well or nothing exists yet.
mt_check_place() {
    mt_problem=
    if [ -h "$mt_states" ]; then
        mt_problem="'$mt_states' is a symbolic link"
        return 1
    fi
    if [ -e "$mt_states" ]; then
        [ -d "$mt_states" ] || mt_problem="'$mt_states' is not a folder"
        # shellcheck disable=SC3067 # dash, bash and busybox have -O, and it needs no fork
        if [ ! -O "$mt_states" ]; then
            # shellcheck disable=SC2012,SC2046 # the owner is the third word, whatever the name holds
            set -- $(ls -ldn "$mt_states" 2>/dev/null | head -n 1)
            mt_problem="'$mt_states' belongs to another user (uid ${3:-unknown}, this is uid $mt_uid)"
        fi
    fi
    for mt_file in "$mt_base.state" "$mt_base.pid" "$mt_base.exit" "$mt_base.seen" "$mt_base.stage" "$mt_log"; do
        [ ! -h "$mt_file" ] || mt_problem="'$mt_file' is a symbolic link"
    done
    [ -z "$mt_problem" ]
}

mt_fail_place() { # FOLDER, which could not be made: mt_problem tells why
    mt_reword "$mt_problem"
    mt_problem="'$1' cannot be created: $mt_why"
    return 1
}

# Create the folders, and prove that files can be written in them -> mt_problem.
mt_make_place() {
    [ -d "$mt_logs" ] || mt_problem=$(LC_ALL=C mkdir -p "$mt_logs" 2>&1) || mt_fail_place "$mt_logs" || return 1
    mt_check_place || return 1
    if [ -d "$mt_states" ]; then
        mt_problem=$(LC_ALL=C chmod 700 "$mt_states" 2>&1)
    else
        mt_problem=$(LC_ALL=C mkdir -m 700 "$mt_states" 2>&1) || [ -d "$mt_states" ]
    fi || mt_fail_place "$mt_states" || return 1
    mt_check_place || return 1
    for mt_file in "$mt_states/.$mt_name.try.$$" "$mt_logs/.$mt_name.try.$$"; do
        if ! mt_write "$mt_file" x; then
            mt_problem="'${mt_file%/*}' cannot be written: $mt_why"
            break
        fi
    done
    rm -f "$mt_states/.$mt_name.try.$$" "$mt_logs/.$mt_name.try.$$" 2>/dev/null
    [ -z "$mt_problem" ]
}

# Whose .state is here? -> mt_verdict:
#   none   none, or that of a run that is proven dead: the name is free
#   own    of this run (any attempt)
#   lives  of another run with a live process
#   unsure of another run that cannot be proven dead: of another user, or of another host of a shared folder
mt_judge_state() {
    mt_verdict=none
    mt_read_state "$mt_base.state" || return 0
    if [ "$mt_s_run_id" = "$mt_run_id" ]; then
        mt_verdict=own
        return 0
    fi
    mt_over=
    ! mt_read_exit "$mt_base.exit" "$mt_s_run_id" "$mt_s_attempt" || mt_over=1
    if [ "$mt_s_host" != "$mt_host" ]; then
        [ -n "$mt_over" ] || mt_verdict=unsure
        return 0
    fi
    [ "$mt_s_boot_id" = "$mt_boot_id" ] || return 0
    if [ "$mt_s_uid" != "$mt_uid" ] && [ "$mt_uid" != 0 ]; then
        [ -n "$mt_over" ] || mt_verdict=unsure
        return 0
    fi
    if [ -z "$mt_s_pid" ] && mt_alive "$mt_s_starter" "$mt_s_starter_ticks"; then
        mt_verdict=lives
        return 0
    fi
    mt_load_roots "$mt_base"
    mt_scan_or_fail "$mt_s_run_id" "$mt_rank" ""
    [ -z "$mt_found" ] || mt_verdict=lives
}

# The user of PID -> mt_s_user
# shellcheck disable=SC3067 # as above
mt_find_user() {
    mt_s_uid=$mt_uid mt_s_user=$mt_user
    [ ! -O "/proc/$1" ] || return 0
    # shellcheck disable=SC2012,SC2046 # the owner is the third word
    set -- $(ls -ldn "/proc/$1" 2>/dev/null)
    mt_s_uid=${3:-} mt_s_user=
    [ "$mt_s_uid" != "$mt_uid" ] || mt_s_user=$mt_user
    [ -n "$mt_s_user" ] ||
        mt_s_user=$(awk -F: -v uid="$mt_s_uid" '$3 == uid { print $1; exit }' /etc/passwd 2>/dev/null)
}

# PID, which had a mark a moment ago -> mt_where: its MTLAUNCH_ARTIFACTS. The environment of a process that exits is
# empty for a moment before it becomes a zombie; fails only if it stays empty.
mt_read_where() {
    for mt_tries_left in 4 3 2 1 0; do
        mt_where=$(tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | sed -n 's/^MTLAUNCH_ARTIFACTS=/+/p; s/^MTLAUNCH_MARK=.*/-/p')
        case $mt_where in
        *"
-") mt_where=${mt_where%??} ;;
        -*) mt_where=${mt_where#-} mt_where=${mt_where#?} ;;
        *) mt_where=. ;;
        esac
        mt_where=${mt_where#+}
        [ "$mt_where" = . ] || return 0
        mt_where=
        mt_stat "$1" && [ "$mt_st_state" != Z ] || return 0
        mt_pause 0.05
    done
    return 1
}

# After a scan: is another run of this name alive in this artifacts folder, although its .state was removed? Its
# processes are recognised by the mark and MTLAUNCH_ARTIFACTS; a process without the latter by its log. -> mt_verdict
# and mt_s_*
# shellcheck disable=SC3013 # dash, bash and busybox have -ef
mt_find_namesake() {
    # shellcheck disable=SC2086 # words without blanks
    set -- $mt_marks
    while [ $# -ge 3 ]; do
        mt_p=$2 mt_mark=${3#MTLAUNCH_MARK=}
        shift 3
        mt_other=${mt_mark%.*.*}
        case $mt_other in
        "$mt_run_id") continue ;;
        "$mt_run"-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]) ;;
        *) continue ;;
        esac
        if ! mt_read_where "$mt_p"; then
            mt_unproven='the output of tr or sed was cut'
            mt_fail_scan
        fi
        if [ -n "$mt_where" ]; then
            [ "$mt_where" = "$mt_artifacts" ] || [ "$mt_where" -ef "$mt_artifacts" ] || continue
        else
            mt_where=$mt_logs/${mt_run}_node${mt_mark##*.}.log
            [ "/proc/$mt_p/fd/1" -ef "$mt_where" ] || [ "/proc/$mt_p/fd/2" -ef "$mt_where" ] || continue
        fi
        mt_verdict=lives mt_s_run_id=$mt_other mt_s_host=$mt_host mt_s_pid=$mt_p mt_s_head=
        mt_find_user "$mt_p"
        return 0
    done
    return 1
}

mt_frame_foreign() {
    mt_frame foreign "$mt_verdict"
    mt_frame foreign_run_id "$mt_s_run_id"
    mt_frame foreign_host "$mt_s_host"
    mt_frame foreign_user "${mt_s_user:-uid $mt_s_uid}"
    mt_frame foreign_pid "${mt_s_pid:-0}"
    [ -z "$mt_s_head" ] || mt_frame foreign_head "$mt_s_head"
}

# In a container the client's parent is not visible, so the end of standard input shows that the reader is gone.
mt_watch_reader() {
    [ -n "$mt_inside" ] || return 0
    exec 3<&0
    (
        while IFS= read -r mt_line; do :; done
        kill -TERM "$$"
    ) <&3 >/dev/null 2>&1 &
    mt_watcher=$!
    exec 3<&-
}
