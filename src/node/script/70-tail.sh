# shellcheck shell=sh disable=SC2154,SC2034
# Sends the log of an attempt: a header in frames, then its bytes. One descriptor stays open, so that a log that is
# renamed meanwhile is followed to its end.

# The log of attempt mt_tail_attempt -> mt_file; fails when there is none.
mt_find_log() {
    mt_file=$mt_log
    mt_read_state "$mt_base.state"
    if [ -n "$mt_s_run_id" ] && [ "$mt_s_run_id" != "$mt_run_id" ]; then
        return 1
    fi
    if [ "$mt_s_attempt" != "$mt_tail_attempt" ]; then
        mt_file=$mt_log.$((${mt_s_log_base:-0} + mt_tail_attempt))
        if [ -z "$mt_s_run_id" ]; then
            # no .state: use the newest log only if no renamed log has this number
            [ -e "$mt_file" ] || mt_file=$mt_log
        fi
    fi
    [ -f "$mt_file" ] && [ ! -h "$mt_file" ]
}

# Offset of the first byte of the last N lines of the first SIZE bytes -> mt_offset. The end is read in growing pieces,
# so that the length of the log does not matter.
mt_last_lines() { # FILE SIZE N
    mt_window=65536
    mt_offset=$2
    [ "$3" -gt 0 ] && [ "$2" -gt 0 ] || return 0
    while :; do
        [ "$mt_window" -lt "$2" ] || mt_window=$2
        mt_begin=$(($2 - mt_window))
        # an incomplete last line counts as a line
        mt_part=$(mt_piece "$1" "$mt_begin" "$mt_window" | tail -n "$3" | wc -c | tr -d ' ')
        if [ "$mt_part" -lt "$mt_window" ] || [ "$mt_window" = "$2" ]; then
            mt_offset=$(($2 - mt_part))
            return 0
        fi
        mt_window=$((mt_window * 8))
    done
}

mt_piece() { # FILE BEGIN LENGTH
    {
        dd bs=1 skip="$2" count=0 2>/dev/null
        head -c "$3"
    } <"$1"
}

# Has the attempt that writes this log ended on this node?
mt_tail_over() {
    mt_read_state "$mt_base.state" || return 0
    [ "$mt_s_run_id.$mt_s_attempt" = "$mt_run_id.$mt_tail_attempt" ] || return 0
    ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_tail_attempt" || return 0
    mt_is_here || return 0
    if [ -z "$mt_s_pid" ]; then
        ! mt_alive "$mt_s_starter" "$mt_s_starter_ticks" && ! mt_just_claimed
        return
    fi
    ! mt_alive "$mt_s_pid" "$mt_s_start_ticks"
}

# Bytes of the log that have been read -> mt_pos
mt_read_pos() {
    mt_pos=
    while read -r mt_key mt_value; do
        [ "$mt_key" != pos: ] || mt_pos=$mt_value
    done <"/proc/self/fdinfo/5"
}

# Is the log now shorter than what has been read of it? Then somebody truncated it.
mt_log_shrank() {
    mt_read_pos
    mt_size=$(wc -c <"/proc/$$/fd/5" | tr -d ' ')
    [ -n "$mt_pos" ] && [ -n "$mt_size" ] && [ "$mt_size" -lt "$mt_pos" ]
}

# The reader is gone when this shell's parent (sshd's session, or the head) is gone. While there is nothing to write,
# this would not be noticed otherwise.
mt_follow() {
    mt_watch_reader
    mt_stat "$$"
    mt_parent=$mt_st_ppid
    mt_wait=0.1
    while :; do
        mt_last=
        ! mt_tail_over || mt_last=1
        mt_before=${mt_pos:-0}
        ! mt_log_shrank || exit 75 # NODE_TAIL_SHRANK
        # while the log grows fast, the pauses stay short
        [ "${mt_pos:-0}" -lt $((mt_before + 1000000)) ] || mt_wait=0.1
        cat 2>/dev/null || exit 0
        [ -z "$mt_last" ] || return 0
        mt_pause "$mt_wait"
        case $mt_wait in
        0.1) mt_wait=0.2 ;;
        0.2) mt_wait=0.5 ;;
        esac
        mt_stat "$$"
        [ "$mt_st_ppid" = "$mt_parent" ] || exit 0
    done <&5
}

mt_grep() { # PATTERN
    LC_ALL=C GREP_OPTIONS='' grep "-a$mt_tail_mode" -e "$1"
}

# Does grep find text among arbitrary bytes, also in a last line without newline, and print the lines unchanged? Not
# every grep does.
mt_trust_grep() {
    mt_sample=$(printf 'b\303\251;')
    [ "$mt_tail_mode" = F ] || mt_sample="a;.*$mt_sample"
    mt_found=$(
        printf '\000\377\r\033a;\200\000b\303\251;\001\na;\nxa;b\303\251;' | mt_grep "$mt_sample" 2>/dev/null |
            tr '\000\377\r\033\200\001\n\303\251' 123456789
    )
    [ "$mt_found" = '1234a;51b89;67xa;b89;7' ]
}

# Print the lines from here on that match the filter, and a frame when all were printed.
mt_filter() {
    mt_grep "$mt_tail_filter" <&5
    mt_status=$?
    mt_answered=1
    mt_read_pos
    [ "$mt_status" -le 1 ] && [ "${mt_pos:-0}" -ge "$mt_size" ] || exit 74 # NODE_TAIL_UNFILTERED
    mt_frame lines all
}

mt_verb_tail() {
    mt_filtered=
    mt_set_paths
    mt_check_place || mt_fail place "$mt_problem"
    if ! mt_find_log || ! [ -r "$mt_file" ]; then
        mt_frame missing 1
        mt_end
    fi
    exec 5<"$mt_file"
    mt_size=$(wc -c <"$mt_file" | tr -d ' ')
    case $mt_tail_from in
    all) mt_offset=0 ;;
    offset) mt_offset=$mt_tail_count ;;
    bytes) mt_offset=$((mt_size > mt_tail_count ? mt_size - mt_tail_count : 0)) ;;
    lines) mt_last_lines "$mt_file" "$mt_size" "$mt_tail_count" ;;
    esac
    [ "$mt_offset" -le "$mt_size" ] || mt_offset=0 # it was emptied since
    mt_frame log "$mt_file"
    mt_frame offset "$mt_offset"
    mt_frame size "$mt_size"
    # a short log is sent faster than it is searched
    [ -z "$mt_tail_filter" ] || [ $((mt_size - mt_offset)) -lt 500000 ] || ! mt_trust_grep || mt_filtered=1
    [ -z "$mt_filtered" ] || mt_frame filtered 1
    mt_frame body 1
    dd bs=1 skip="$mt_offset" count=0 <&5 2>/dev/null
    if [ -n "$mt_want_follow" ]; then
        mt_follow
    elif [ -n "$mt_filtered" ]; then
        mt_filter
    else
        head -c "$((mt_size - mt_offset))" <&5
    fi
    exit 0
}
