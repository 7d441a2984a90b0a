# shellcheck shell=sh disable=SC2154,SC2034
# The watchdog of a command (85-exec.sh): a separate program with 15-stat.sh in front, in a session of its own. It ends
# the command and all its descendants when the connection is gone or the time is up. When the command ends by itself,
# the watchdog ends too, and processes that the command left in the background stay.
#
# Arguments: PID TICKS PARENT LIMIT MARK NONCE FEED. Without PARENT, this shell's standard input stands for the
# connection: nothing is read from it but its end or, with FEED (a named pipe), lines that are passed on to the command.
# With PARENT, the input belongs to the command, and the connection is gone when the command's parent changes: the
# parent is the server's process for the connection. A separate call (87-end.sh) may then also send TERM to this shell,
# which it finds by NONCE.

mt_read_input() { # until it ends
    while IFS= read -r mt_line; do
        [ -z "$mt_feed" ] || printf '%s\n' "$mt_line" >&4
    done
}

mt_watch_input() { # until it ends, or LIMIT seconds
    # open it for reading too: then the open does not block, and the command never sees the end of its input
    [ -z "$mt_feed" ] || exec 4<>"$mt_feed"
    if [ -z "$mt_limit" ]; then
        mt_read_input
        return
    fi
    exec 3<&0
    sleep "$mt_limit" 3<&- &
    mt_sleeper=$!
    (
        mt_read_input
        kill "$mt_sleeper"
    ) <&3 &
    mt_reader=$!
    wait "$mt_sleeper"
    kill "$mt_reader"
}

mt_watch_parent() { # until it is another one, or TERM came, or LIMIT seconds
    trap 'mt_told=1' TERM
    mt_left=$mt_limit
    while [ -z "$mt_told" ] && mt_alive "$mt_command" "$mt_ticks" && [ "$mt_st_ppid" = "$mt_parent" ]; do
        if [ -n "$mt_limit" ]; then
            mt_left=$((mt_left - 1))
            [ "$mt_left" -ge 0 ] || return
        fi
        sleep 1
    done
}

# Live processes of the command -> mt_found: lines "pid ticks". They are its group, its session, processes with its
# mark, those found before, and all descendants of these. Fails, and keeps the old list, when grep and awk did not prove
# that they ran to their ends: an empty list would then mean nothing.
mt_find() {
    IFS=' ' read -r mt_self mt_rest </proc/self/stat
    mt_text=$({
        [ -z "$mt_found" ] || printf '%s\n' "$mt_found" | sed 's/^/found /'
        printf '%s\n' /proc/[0-9]*/environ /proc/self/cmdline |
            xargs grep -lzx -e "MTLAUNCH_EXEC=$mt_mark" -e MTLAUNCH_SCAN=end 2>/dev/null
        printf '%s\n' /proc/[0-9]* end
    } | LC_ALL=C awk -v leader="$mt_command" -v self="$mt_self" "$mt_awk_stat"'
        $1 == "found" { seen[$2] = $3; next }
        $1 == "/proc/self/cmdline" { searched = 1; next }
        $1 == "end" { whole = 1; next }
        sub(/\/environ$/, "", $1) { marked[substr($1, 7)] = 1; next }
        {
            if (!read_stat($1)) next
            pid = substr($1, 7)
            kids[word[2]] = kids[word[2]] " " pid
            ticks[pid] = word[20]
            if (word[1] ~ /^[ZXx]/ && word[18] <= 1) gone[pid] = 1
            if (word[3] == leader || word[4] == leader || (pid in marked) || ((pid in seen) && seen[pid] == word[20]))
                queue[++n] = pid
        }
        END {
            if (!searched || !whole || !(self in ticks)) exit
            for (i = 1; i <= n; i++) {
                if (queue[i] in done) continue
                done[queue[i]] = 1
                count = split(kids[queue[i]], list, " ")
                for (k = 1; k <= count; k++) queue[++n] = list[k]
            }
            for (pid in done) if (!(pid in gone)) print pid, ticks[pid]
            print "end"
        }' 2>/dev/null)
    case $mt_text in
    *end) ;;
    *) return 1 ;;
    esac
    mt_found=${mt_text%end}
    mt_found=${mt_found%"
"}
}

# The same without a fork, but slower: for a node that cannot start another process, or whose tools fail.
mt_find_slowly() {
    mt_list=' '
    for mt_file in /proc/[0-9]*; do
        mt_pid=${mt_file#/proc/}
        mt_alive_now "$mt_pid" || continue
        if [ "$mt_st_pgrp" = "$mt_command" ] || [ "$mt_st_sid" = "$mt_command" ] || mt_is_known || mt_is_marked; then
            mt_list="$mt_list$mt_pid:$mt_st_ticks "
        fi
    done
    mt_more=1
    while [ -n "$mt_more" ]; do
        mt_more=
        for mt_file in /proc/[0-9]*; do
            mt_pid=${mt_file#/proc/}
            mt_alive_now "$mt_pid" || continue
            case $mt_list in
            *" $mt_pid:"*) ;;
            *" $mt_st_ppid:"*) mt_list="$mt_list$mt_pid:$mt_st_ticks " mt_more=1 ;;
            esac
        done
    done
    mt_found=
    for mt_pid in $mt_list; do
        mt_found="$mt_found${mt_found:+
}${mt_pid%:*} ${mt_pid#*:}"
    done
}

mt_alive_now() { # PID: lives, and is not this shell
    [ "$1" != "$$" ] && mt_stat "$1" && mt_alive "$1" "$mt_st_ticks"
}

mt_is_known() { # mt_pid was found before
    case "
$mt_found
" in
    *"
$mt_pid $mt_st_ticks
"*) return 0 ;;
    esac
    return 1
}

mt_is_marked() { # mt_pid; the shell leaves out the zero bytes between the variables
    case $mt_st_state in
    D*) return 1 ;; # that file could be read for ever
    esac
    {
        while mt_line='' && { IFS= read -r mt_line || [ -n "$mt_line" ]; }; do
            case $mt_line in
            *"MTLAUNCH_EXEC=$mt_mark"*) return 0 ;;
            esac
        done <"/proc/$mt_pid/environ"
    } 2>/dev/null
    return 1
}

mt_read_seconds() { # since boot -> mt_now
    IFS=' .' read -r mt_now mt_rest </proc/uptime
}

mt_signal() { # NAME
    mt_alive "$mt_command" "$mt_ticks" && kill -s "$1" -- "-$mt_command"
    while read -r mt_pid mt_rest; do
        kill -s "$1" "$mt_pid"
    done <<MT_LIST
$mt_found
MT_LIST
}

# Send TERM, give the command two seconds to end, then send KILL until nothing is left. The loop is bounded: a process
# that is stuck in the kernel does not end.
mt_end_command() {
    mt_ending=1
    mt_found=
    mt_find || mt_find_slowly
    mt_signal TERM
    mt_turn=0
    while [ "$mt_turn" -lt 20 ] && mt_alive "$mt_command" "$mt_ticks"; do
        mt_turn=$((mt_turn + 1))
        sleep 0.1 || sleep 1
    done
    mt_turn=0
    while [ "$mt_turn" -lt 30 ]; do
        mt_find || mt_find_slowly
        [ -n "$mt_found" ] || return
        mt_signal KILL
        mt_turn=$((mt_turn + 1))
        sleep 0.1 || sleep 1
    done
}

# A shell that cannot fork exits at once. Before that, it continues with what needs no fork: it waits for the end of the
# connection, and ends the command. Where the wait cannot block, it is a busy loop.
# shellcheck disable=SC2317 # called by the trap
mt_go_on_without_forks() {
    [ -z "$mt_done" ] || return 0
    mt_done=1
    [ -n "$mt_ending" ] || mt_watch_without_forks
    mt_alive "$mt_command" "$mt_ticks" || [ -n "$mt_ending" ] || return 0
    mt_found=${mt_found:-}
    mt_find_slowly
    mt_signal TERM
    mt_read_seconds
    mt_until=$((mt_now + 3))
    while mt_alive "$mt_command" "$mt_ticks" && [ "$mt_now" -lt "$mt_until" ]; do mt_read_seconds; done
    mt_until=$((mt_now + 10))
    while mt_find_slowly && [ -n "$mt_found" ] && [ "$mt_now" -lt "$mt_until" ]; do
        mt_signal KILL
        mt_read_seconds
    done
}

mt_watch_without_forks() {
    if [ -z "$mt_parent" ]; then
        while IFS= read -r mt_line; do :; done
        return
    fi
    mt_read_seconds
    mt_until=$((mt_now + ${mt_limit:-0}))
    while [ -z "$mt_told" ] && mt_alive "$mt_command" "$mt_ticks" && [ "$mt_st_ppid" = "$mt_parent" ]; do
        mt_read_seconds
        [ -z "$mt_limit" ] || [ "$mt_now" -lt "$mt_until" ] || return
    done
}

unset IFS
set +e +u
cd /
mt_command=$1 mt_ticks=$2 mt_parent=$3 mt_limit=$4 mt_mark=$5 mt_feed=${7-}
mt_done='' mt_ending='' mt_told=''
trap mt_go_on_without_forks EXIT
if [ -n "$mt_parent" ]; then mt_watch_parent; else mt_watch_input; fi
if mt_alive "$mt_command" "$mt_ticks"; then mt_end_command; fi
mt_done=1
