# shellcheck shell=sh disable=SC2154,SC2034
# Runs the checks of a node. Each is a function mt_check_ID in a part of its own; it reports facts as frames "ID.KEY".
# No process that is started here stays, and no file is left except the folders that a start needs.
#
# mt_lanes: words AFTER/ID:SECONDS,ID:SECONDS… Each is a lane: its checks run one after the other in a shell of their
# own, parallel to this one, once check AFTER (of a lane, or of this shell) is over. A check that exceeds its time is
# killed and reported with late=1, and the rest of its lane continues in a new shell: a check that hangs costs only its
# own result. mt_late_ID, if it exists, ends what the check was waiting for elsewhere. A check that has ended reports
# ran=1.
# mt_own_checks: checks that this shell runs itself, in order, without a time limit: what they prove must be complete.

# Run a check in this shell.
mt_run_check() { # ID
    mt_prefix=$1.
    "mt_check_$1"
    mt_frame ran 1
    mt_prefix=
}

# Runs in the lane's shell. The file lane.N.now contains the current check and its deadline, or "end" once everything
# has been reported.
mt_run_lane() { # LANE ID:SECONDS,…
    mt_lane=$1
    set -f
    IFS=,
    # shellcheck disable=SC2086
    set -- $2
    set +f
    unset IFS
    for mt_row; do
        mt_id=${mt_row%:*}
        mt_read_clock
        printf '%s %s\n' "$mt_id" "$((mt_clock + ${mt_row#*:} * 100))" >"$mt_lane.now"
        mt_run_check "$mt_id"
        : >"$mt_tmp/done.$mt_id"
    done
    [ -z "$mt_frame_lost" ] || exit 3
    echo 'end 0' >"$mt_lane.now" || exit 3
}

mt_start_lane() { # ID:SECONDS,…
    mt_lane_number=$((mt_lane_number + 1))
    : >"$mt_tmp/lane.$mt_lane_number.now"
    (mt_run_lane "$mt_tmp/lane.$mt_lane_number" "$1") </dev/null >"$mt_tmp/lane.$mt_lane_number.out" 2>/dev/null &
    mt_live="$mt_live $!/$mt_lane_number/$1"
}

# Start the lanes that need not wait any longer -> mt_pending: the other lanes
mt_start_lanes() {
    mt_left=$mt_pending mt_pending=
    for mt_word in $mt_left; do
        mt_after=${mt_word%%/*}
        if [ -z "$mt_after" ] || [ -e "$mt_tmp/done.$mt_after" ]; then
            mt_start_lane "${mt_word#*/}"
        else
            mt_pending="$mt_pending $mt_word"
        fi
    done
}

# Kill PID, a child of this shell, and all its descendants.
mt_kill_tree() { # PID
    mt_text=
    ! mt_read_table || mt_text=$(printf '%s\n' "$mt_table" | awk -v top="$1" '
        $1 == "proc" { kids[$3] = kids[$3] " " $2 }
        END {
            list[++n] = top
            for (i = 1; i <= n && n < 4096; i++) {
                m = split(kids[list[i]], kid, " ")
                for (j = 1; j <= m; j++) { list[++n] = kid[j]; print kid[j] }
            }
        }')
    # shellcheck disable=SC2086
    kill -KILL "$1" $mt_text 2>/dev/null
}

# A lane's shell has ended before its report was complete: it met a failure that ends the whole answer, or it was cut
# off.
mt_end_cut_lane() { # PID FILE
    wait "$1"
    mt_code=$?
    case $(tail -n 1 "$2.out") in
    "@@$mt_nonce end=ok")
        cat "$2.out"
        mt_answered=1
        exit 0
        ;;
    esac
    [ "$mt_code" != 3 ] || mt_fail place "no temporary file can be written in '${mt_tmp%/*}'"
    mt_unproven='cannot fork'
    mt_fail_scan
}

# Poll one lane; it stays in mt_live if it is still running.
mt_poll_lane() { # PID NUMBER ROWS
    mt_lane=$mt_tmp/lane.$2
    mt_gone='' mt_now='' mt_until=''
    kill -0 "$1" 2>/dev/null || mt_gone=1 # before its word is read: what it said last must not be missed
    read -r mt_now mt_until <"$mt_lane.now"
    mt_read_clock
    if [ "$mt_now" = end ]; then
        mt_outs="$mt_outs lane.$2.out"
    elif [ -n "$mt_gone" ]; then
        mt_end_cut_lane "$1" "$mt_lane"
    elif [ -n "$mt_until" ] && [ "$mt_clock" -ge "$mt_until" ]; then
        mt_kill_tree "$1"
        ! command -v "mt_late_$mt_now" >/dev/null || "mt_late_$mt_now"
        mt_outs="$mt_outs lane.$2.out"
        mt_own_prefix=$mt_prefix mt_prefix= # this shell may be in a check of its own
        mt_frame "$mt_now.late" 1
        mt_prefix=$mt_own_prefix
        : >"$mt_tmp/done.$mt_now"
        mt_rest=",$3,"
        mt_rest=${mt_rest#*",$mt_now:"}
        mt_rest=${mt_rest#*,}
        [ -z "$mt_rest" ] || mt_start_lane "${mt_rest%,}"
    else
        mt_live="$mt_live $1/$2/$3"
    fi
}

mt_poll_lanes() {
    mt_left=$mt_live mt_live=
    for mt_word in $mt_left; do
        mt_rest=${mt_word#*/}
        mt_poll_lane "${mt_word%%/*}" "${mt_rest%%/*}" "${mt_rest#*/}"
    done
    mt_start_lanes
}

# Poll the lanes until check ID is over; with an empty ID, until all are over, then print their output.
mt_await() { # ID, or nothing
    mt_wait=0.02
    while [ -n "$mt_live$mt_pending" ]; do
        mt_poll_lanes
        if [ -n "$1" ] && [ -e "$mt_tmp/done.$1" ]; then
            break
        fi
        [ -n "$mt_live" ] || break
        mt_pause "$mt_wait"
        case $mt_wait in
        0.02) mt_wait=0.03 ;;
        0.03) mt_wait=0.05 ;;
        *) mt_wait=0.1 ;;
        esac
    done
    [ -z "$1$mt_outs" ] || [ -n "$1" ] || {
        # shellcheck disable=SC2086 # names without blanks
        (cd "$mt_tmp" && exec cat $mt_outs)
        mt_outs=
    }
}

# Count the CPUs of a list such as "0-3,8", as nproc does -> mt_cores
mt_count_cores() {
    mt_cores=0
    IFS=,
    for mt_value in $mt_cpus; do
        mt_cores=$((mt_cores + ${mt_value#*-} - ${mt_value%-*} + 1))
    done
    unset IFS
}

# The facts that every node reports about itself.
mt_frame_node() {
    mt_prefix=node.
    for mt_key in home host user boot_id uid artifacts; do
        eval "mt_frame $mt_key \"\$mt_$mt_key\""
    done
    mt_count_cores
    mt_frame cores "$mt_cores"
    ! command -v python3 >/dev/null || mt_frame python 1
    ! command -v perl >/dev/null || mt_frame perl 1
    mt_prefix=
}

mt_verb_check() {
    mt_read_clock
    mt_began=$mt_clock
    mt_set_paths
    mt_set_workdir
    mt_name_user
    mt_prepare_env
    mt_frame_node
    trap 'exit 1' HUP INT TERM
    mt_make_tmp || { mt_make_place && mt_make_tmp "$mt_states/.probe.XXXXXX"; } ||
        mt_fail place "no temporary file can be written in '${TMPDIR:-/tmp}': $mt_why"
    mt_pending=$mt_lanes mt_live='' mt_lane_number=0 mt_scanned='' mt_outs=''
    mt_start_lanes
    for mt_one in $mt_own_checks; do
        mt_run_check "$mt_one"
        : >"$mt_tmp/done.$mt_one"
        mt_start_lanes
    done
    mt_await ''
    mt_read_clock
    mt_frame node.took "$((mt_clock - mt_began))" # hundredths of a second
    mt_end
}
