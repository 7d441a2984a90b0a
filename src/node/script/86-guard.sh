# shellcheck shell=sh disable=SC2154,SC2034
# The guard of a command (85-exec.sh): a program of its own with 15-stat.sh in front, in a session of its own. It ends
# the command and all that descends from it when the connection is gone or the time is up. When the command ends by
# itself the guard ends too, and what it left in the background stays.
#
# Arguments: PID TICKS PARENT LIMIT MARK NONCE. Without PARENT the connection is this shell's standard input, on which
# nothing comes but its end; with it (the input is the command's own) the command's parent tells: the server's process
# for the connection, in whose place another comes when it dies. Then a call of its own (87-end.sh) may also send this
# shell TERM; it finds it by NONCE.

mt_watch_input() { # until it ends, or LIMIT seconds
    if [ -z "$mt_limit" ]; then
        while IFS= read -r mt_line; do :; done
        return
    fi
    exec 3<&0
    sleep "$mt_limit" 3<&- &
    mt_sleeper=$!
    (
        while IFS= read -r mt_line; do :; done
        kill "$mt_sleeper"
    ) <&3 &
    mt_reader=$!
    wait "$mt_sleeper"
    kill "$mt_reader"
}

mt_watch_parent() { # until it is another one, or TERM came, or LIMIT seconds
    mt_told=
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

# What belongs to the command and lives -> mt_found: lines "pid ticks": its group, its session, what has its mark,
# what descends from these or was found before.
mt_find() {
    mt_found=$({
        printf '%s\n' "$mt_found" | sed 's/^/found /'
        grep -lzx "MTLAUNCH_EXEC=$mt_mark" /proc/[0-9]*/environ 2>/dev/null |
            sed 's,^/proc/,marked ,; s,/environ$,,'
        printf '%s\n' /proc/[0-9]*
    } | awk -v leader="$mt_command" '
        $1 == "found" { seen[$2] = $3; next }
        $1 == "marked" { marked[$2] = 1; next }
        {
            file = $1 "/stat"
            text = ""
            while ((getline part < file) > 0) text = text part " "
            close(file)
            if (!sub(/^.*\) /, "", text)) next
            split(text, word, " ")
            pid = substr($1, 7)
            kids[word[2]] = kids[word[2]] " " pid
            ticks[pid] = word[20]
            if (word[1] ~ /^[ZXx]/ && word[18] <= 1) gone[pid] = 1
            if (word[3] == leader || word[4] == leader || (pid in marked) || ((pid in seen) && seen[pid] == word[20]))
                queue[++n] = pid
        }
        END {
            for (i = 1; i <= n; i++) {
                if (queue[i] in done) continue
                done[queue[i]] = 1
                count = split(kids[queue[i]], list, " ")
                for (k = 1; k <= count; k++) queue[++n] = list[k]
            }
            for (pid in done) if (!(pid in gone)) print pid, ticks[pid]
        }')
}

mt_signal() { # NAME
    mt_alive "$mt_command" "$mt_ticks" && kill -s "$1" -- "-$mt_command"
    while read -r mt_pid mt_rest; do
        kill -s "$1" "$mt_pid"
    done <<MT_LIST
$mt_found
MT_LIST
}

# TERM, two seconds for the command to go by, then KILL until nothing is left. Limited: a process that is stuck in
# the kernel does not go.
mt_end_command() {
    mt_found=
    mt_find
    mt_signal TERM
    mt_turn=0
    while [ "$mt_turn" -lt 20 ] && mt_alive "$mt_command" "$mt_ticks"; do
        mt_turn=$((mt_turn + 1))
        sleep 0.1 || sleep 1
    done
    mt_turn=0
    while [ "$mt_turn" -lt 30 ]; do
        mt_find
        [ -n "$mt_found" ] || return
        mt_signal KILL
        mt_turn=$((mt_turn + 1))
        sleep 0.1 || sleep 1
    done
}

unset IFS
set +e +u
cd /
mt_command=$1 mt_ticks=$2 mt_parent=$3 mt_limit=$4 mt_mark=$5
if [ -n "$mt_parent" ]; then mt_watch_parent; else mt_watch_input; fi
if mt_alive "$mt_command" "$mt_ticks"; then mt_end_command; fi
