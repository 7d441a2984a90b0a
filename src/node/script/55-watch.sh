# shellcheck shell=sh disable=SC2154,SC2034
# The watch: reports the state of the run on this node at once and after each change, and in between a heartbeat with
# the size of the log every mt_beat seconds. A poll forks only its pause; while the command runs, one pause lasts until
# a report is due or a process has ended. The watch ends when it has reported the run's end on this node, when its
# reader is gone, or when it could not write for mt_patience seconds.
# While the job runs, the output of nvidia-smi is added to a heartbeat every mt_gpus_every seconds, on nodes that have
# it; the first few times to each heartbeat, so that a short job is sampled too.

# The state as far as it can be told without an observation -> mt_phase
mt_watch_phase() {
    mt_phase=other
    mt_is_here && mt_alive "$mt_s_pid" "$mt_s_start_ticks" || return 0
    mt_phase=running
    [ ! -s "$mt_base.stage" ] || mt_phase=starting
    mt_alive "$mt_s_keeper" "$mt_s_keeper_ticks" || mt_phase=$mt_phase.alone
}

# Has the last message been read? Then mt_writer is empty. Fails when nobody will read it any more.
mt_watch_written() {
    [ -n "$mt_writer" ] || return 0
    if mt_stat "$mt_writer" && [ "$mt_st_state" != Z ]; then
        mt_read_clock
        [ "$mt_clock" -lt "$mt_write_by" ] && return 0
        kill -KILL "$mt_writer"
        return 1
    fi
    wait "$mt_writer" || return 1
    mt_writer=
}

# Write the pending messages in a separate process: this shell must not hang on a reader that has stopped.
mt_watch_write() {
    mt_watch_written || exit 0
    [ -z "$mt_writer" ] || return 0
    [ -n "$mt_unsaid" ] || return 0
    mt_read_clock
    mt_write_by=$((mt_clock + mt_patience * 100))
    printf '%s\n' "$mt_unsaid" &
    mt_writer=$!
    mt_unsaid=
}

mt_watch_say() { # TEXT
    mt_unsaid="$mt_unsaid
$1"
}

mt_watch_beat() {
    mt_watch_take_gpus
    mt_watch_written || exit 0
    if [ -n "$mt_has_stat" ] && [ -f "$mt_log" ] && [ -z "$mt_gpus_text$mt_unsaid$mt_writer" ]; then
        # a single process reads the size and writes it
        stat -c "
@@$mt_nonce beat=%s" "$mt_log" 2>/dev/null &
        mt_writer=$!
        mt_write_by=$((mt_clock + mt_patience * 100))
        return
    fi
    mt_size=${mt_size:-0}
    # shellcheck disable=SC2012,SC2046 # the length is the fifth word, whatever the name holds
    [ ! -f "$mt_log" ] || set -- $(ls -ln "$mt_log" 2>/dev/null)
    [ $# -lt 5 ] || mt_size=$5
    mt_watch_say "$mt_gpus_text
@@$mt_nonce beat=$mt_size"
    mt_gpus_text=
}

# nvidia-smi may hang, so a separate process runs it, and its output is added to the next heartbeat. When it fails three
# times in a row, it is not run again.
mt_watch_ask_gpus() {
    [ "$mt_clock" -ge "$mt_gpus_at" ] && [ "$mt_phase" = running ] && [ -z "$mt_gpus_job" ] || return 0
    mt_number=$mt_gpus_every
    [ "$mt_gpus_asked" -ge 6 ] || [ "$mt_gpus_failed" -gt 0 ] || [ "$mt_beat" -ge "$mt_number" ] || mt_number=$mt_beat
    mt_gpus_at=$((mt_clock + mt_number * 100)) mt_gpus_asked=$((mt_gpus_asked + 1))
    if [ "$mt_gpus_every" = 0 ] || [ "$mt_gpus_failed" -ge 3 ] || ! command -v nvidia-smi >/dev/null; then
        mt_gpus_at=$((mt_clock + 100000000))
        return 0
    fi
    if [ -z "$mt_tmp" ]; then
        trap 'exit 1' HUP INT TERM
        mt_tmp=$(mktemp -d 2>/dev/null) || return 0
    fi
    rm -f "$mt_tmp/facts"
    (
        mt_load_roots "$mt_base"
        mt_observe_gpus >"$mt_tmp/facts.part"
        case $(cat "$mt_tmp/gpus.code" 2>/dev/null) in
        0) mv "$mt_tmp/facts.part" "$mt_tmp/facts" ;;
        esac
    ) </dev/null >/dev/null 2>&1 &
    mt_gpus_job=$!
}

# The output of nvidia-smi, once it is done -> mt_gpus_text
mt_watch_take_gpus() {
    [ -n "$mt_gpus_job" ] || return 0
    ! mt_stat "$mt_gpus_job" || [ "$mt_st_state" = Z ] || return 0
    wait "$mt_gpus_job"
    mt_gpus_job=
    mt_gpus_failed=$((mt_gpus_failed + 1))
    [ -f "$mt_tmp/facts" ] || return 0
    mt_gpus_failed=0
    mt_gpus_text=$(cat "$mt_tmp/facts")
}

# Report the state of the run -> mt_over: set when nothing will change any more
mt_watch_observe() {
    mt_text=$(mt_verb_observe)
    case $mt_text in
    *"@@$mt_nonce error=scan"*) mt_text= ;;
    *"@@$mt_nonce end=ok"*) ;;
    *) mt_text= ;;
    esac
    if [ -z "$mt_text" ]; then
        # the state is unknown at this moment: try again later
        mt_said='' mt_observe_at=$((mt_clock + mt_beat * 100))
        return 0
    fi
    mt_watch_say "$mt_text"
    # observing these states is expensive: wait longer before the next one
    case $mt_text in
    *"@@$mt_nonce life=unrecorded"* | *"@@$mt_nonce ending="*) mt_observe_at=$((mt_clock + mt_beat * 100)) ;;
    *"@@$mt_nonce life=running"* | *"@@$mt_nonce life=starting"*) ;;
    *) mt_over=1 ;;
    esac
}

# Arguments: a time in half seconds, then process ids. Ends after that time, or as soon as one of the processes has
# ended.
# shellcheck disable=SC2016
mt_pause_program='
    $left = shift;
    while ($left-- > 0) {
        select undef, undef, undef, 0.5;
        for (@ARGV) { exit unless -d "/proc/$_" }
    }
'

mt_watch_pause() {
    mt_read_clock
    mt_number=$mt_next_beat
    [ "$mt_gpus_every" = 0 ] || [ "$mt_gpus_at" -ge "$mt_number" ] || mt_number=$mt_gpus_at
    mt_number=$(((mt_number - mt_clock + 99) / 100))
    if [ -n "$mt_perl" ] && [ "$mt_phase" = running ] && [ -z "$mt_unsaid$mt_gpus_job$mt_over" ] && [ "$mt_number" -gt 1 ]; then
        # the parent is not always visible: it is 0 in a container, and an sshd of another user is hidden with hidepid
        mt_value=$mt_parent
        [ -d "/proc/$mt_value" ] || mt_value=
        # shellcheck disable=SC2086 # some may be empty
        "$mt_perl" -e "$mt_pause_program" "$((mt_number * 2))" "$$" "$mt_s_pid" "$mt_s_keeper" $mt_value $mt_watcher \
            </dev/null >/dev/null 2>&1
        mt_code=$? mt_number=$mt_clock
        mt_read_clock
        # a perl that ends at once has not paused, whatever its status
        [ "$mt_code" != 0 ] || [ "$((mt_clock - mt_number))" -lt 40 ] || return
        mt_perl=
    fi
    mt_pause "$mt_poll_every"
}

mt_verb_watch() {
    mt_set_paths
    mt_has_stat=
    ! stat -c %s / >/dev/null 2>&1 || mt_has_stat=1
    mt_find_tool perl
    mt_perl=$mt_path
    mt_watch_reader
    mt_stat "$$"
    mt_parent=$mt_st_ppid
    mt_size='' mt_writer='' mt_unsaid='' mt_said='' mt_over='' mt_next_beat=0 mt_observe_at=0
    mt_gpus_text='' mt_gpus_job='' mt_gpus_at=0 mt_gpus_asked=0 mt_gpus_failed=0
    while :; do
        mt_read_clock
        if [ "$mt_clock" -ge "$mt_next_beat" ]; then
            mt_still_ours || mt_s_pid=''
            [ "$mt_next_beat" = 0 ] || [ -n "$mt_over" ] || mt_watch_beat
            mt_next_beat=$((mt_clock + mt_beat * 100))
        fi
        mt_watch_phase
        if [ -z "$mt_over" ] && { [ "$mt_phase" != "$mt_said" ] || [ "$mt_phase" = other ]; } &&
            [ "$mt_clock" -ge "$mt_observe_at" ]; then
            mt_still_ours
            mt_watch_phase
            mt_said=$mt_phase
            mt_watch_observe
        fi
        [ -n "$mt_over" ] || mt_watch_ask_gpus
        mt_watch_write
        [ -z "$mt_over" ] || [ -n "$mt_writer$mt_unsaid" ] || break
        mt_watch_pause
        mt_stat "$$"
        [ "$mt_st_ppid" = "$mt_parent" ] || exit 0
    done
}
