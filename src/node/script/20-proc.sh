# shellcheck shell=sh disable=SC2154,SC2034
# Processes: all that belong to a run. The keeper's text has this part too.

mt_pause() { # SECONDS, may be a fraction: busybox without fancy sleep takes whole ones only
    sleep "$1" 2>/dev/null || sleep 1
}

mt_digits() { # TEXT -> mt_number: TEXT when it is a number, else ""
    case $1 in
    '' | *[!0-9]*) mt_number= ;;
    *) mt_number=$1 ;;
    esac
}

# FILE -> mt_s_*; fails when there is none.
mt_read_state() {
    mt_s_run_id='' mt_s_host='' mt_s_user='' mt_s_uid='' mt_s_boot_id='' mt_s_pid='' mt_s_start_ticks=''
    mt_s_attempt='' mt_s_started='' mt_s_master_port='' mt_s_keeper='' mt_s_keeper_ticks='' mt_s_starter=''
    mt_s_starter_ticks='' mt_s_log_base=''
    [ -f "$1" ] && [ ! -h "$1" ] || return 1
    {
        while IFS= read -r mt_line; do
            mt_value=${mt_line#*=}
            mt_digits "$mt_value"
            case $mt_line in
            run_id=*) mt_s_run_id=$mt_value ;;
            host=*) mt_s_host=$mt_value ;;
            user=*) mt_s_user=$mt_value ;;
            uid=*) mt_s_uid=$mt_number ;;
            boot_id=*) mt_s_boot_id=$mt_value ;;
            pid=*) mt_s_pid=$mt_number ;;
            start_ticks=*) mt_s_start_ticks=$mt_number ;;
            attempt=*) mt_s_attempt=$mt_number ;;
            started=*) mt_s_started=$mt_number ;;
            master_port=*) mt_s_master_port=$mt_number ;;
            keeper=*) mt_s_keeper=$mt_number ;;
            keeper_ticks=*) mt_s_keeper_ticks=$mt_number ;;
            starter=*) mt_s_starter=$mt_number ;;
            starter_ticks=*) mt_s_starter_ticks=$mt_number ;;
            log_base=*) mt_s_log_base=$mt_number ;;
            esac
        done <"$1"
    } 2>/dev/null || return 1
    [ -n "$mt_s_run_id" ]
}

mt_still_ours() { # .state names this attempt of this run
    mt_read_state "$mt_base.state" && [ "$mt_s_run_id" = "$mt_run_id" ] && [ "$mt_s_attempt" = "$mt_attempt" ]
}

# Another run or attempt has taken this one's place: its files are no longer this one's to write.
mt_is_usurped() {
    mt_read_state "$mt_base.state" && { [ "$mt_s_run_id" != "$mt_run_id" ] || [ "$mt_s_attempt" != "$mt_attempt" ]; }
}

mt_is_here() { # the state just read was written by this boot of this host
    [ "$mt_s_host" = "$mt_host" ] && [ "$mt_s_boot_id" = "$mt_boot_id" ]
}

# FILE RUN_ID ATTEMPT -> mt_x_*; fails when there is no exit record of that attempt.
mt_read_exit() {
    mt_x_run_id='' mt_x_attempt='' mt_x_status='' mt_x_signal='' mt_x_ended='' mt_x_uptime='' mt_x_setup_line=''
    [ -f "$1" ] && [ ! -h "$1" ] || return 1
    {
        while IFS= read -r mt_line; do
            mt_value=${mt_line#*=}
            case $mt_line in
            run_id=*) mt_x_run_id=$mt_value ;;
            attempt=*) mt_x_attempt=$mt_value ;;
            status=*) mt_x_status=$mt_value ;;
            signal=*) mt_x_signal=$mt_value ;;
            ended=*) mt_x_ended=$mt_value ;;
            uptime=*) mt_x_uptime=$mt_value ;;
            setup_line=*) mt_x_setup_line=$mt_value ;;
            esac
        done <"$1"
    } 2>/dev/null || return 1
    [ "$mt_x_run_id" = "$2" ] && [ "$mt_x_attempt" = "$3" ]
}

# Write the exit record of RUN_ID ATTEMPT to BASE.exit, once: whoever comes second changes nothing.
mt_write_exit() { # BASE RUN_ID ATTEMPT STATUS [SETUP_LINE]
    ! mt_read_exit "$1.exit" "$2" "$3" || return 0
    mt_signal=
    if [ "$4" -gt 128 ] 2>/dev/null; then
        mt_signal=$(kill -l "$4" 2>/dev/null) || mt_signal=
        case $mt_signal in
        SIG*) mt_signal=${mt_signal#SIG} ;;
        *[!A-Z0-9+-]* | [0-9]*) mt_signal= ;;
        esac
    fi
    IFS=' ' read -r mt_up mt_rest </proc/uptime
    mt_ended=${mt_ended:-$(date +%s)}
    mt_ended_up=${mt_ended_up:-$mt_up}
    mt_put "$1" exit "status=$4
signal=$mt_signal
ended=$mt_ended
uptime=$mt_ended_up
run_id=$2
attempt=$3
${5:+setup_line=$5
}"
}

# Every process -> mt_table: lines "proc pid ppid pgrp sid threads ticks state", one pass over /proc/PID/stat.
mt_read_table() {
    mt_table=$(printf '%s\n' /proc/[0-9]* | awk '{
        file = $1 "/stat"
        text = ""
        while ((getline part < file) > 0) text = text part " "
        close(file)
        if (!sub(/^.*\) /, "", text)) next
        split(text, word, " ")
        print "proc", substr($1, 7), word[2], word[3], word[4], word[18], word[20], word[1]
    }')
}

# The closure of what the run's processes reach. Input lines: the table's, and "self PID", "root PID TICKS",
# "keeper PID TICKS", "mem PID TICKS SID" (noted earlier), "own PID" and "foreign PID" (by the mark in their
# environment). Output: "R pid ticks state sid pgrp" for each process of the run that lives, "K …" for those of
# the keeper's own session.
#
# A session counts by its leader: one led by a process of the run, or whose leader is gone, while its number
# cannot have been given again (the kernel keeps the number while the session has members; a leader of another
# start time means that the number is somebody else's).
# shellcheck disable=SC2016
mt_scan_program='
function add(p) {
    if (!(p in state) || (p in run) || (p in skip)) return
    run[p] = 1
    queue[++queued] = p
}
function add_list(text, since,    list, n, i) {
    n = split(text, list, " ")
    for (i = 1; i <= n; i++) if (ticks[list[i]] + 0 >= since + 0) add(list[i])
}
function skip_tree(p,    list, n, i) {
    if (p in skip) return
    skip[p] = 1
    n = split(kids[p], list, " ")
    for (i = 1; i <= n; i++) skip_tree(list[i])
}
function lives(p) { return state[p] !~ /^[ZXx]/ || threads[p] > 1 }
function is(p, t) { return (p in state) && ticks[p] == t }
$1 == "self" { self = $2 }
$1 == "root" { root = $2; root_ticks = $3 }
$1 == "keeper" { keeper = $2; keeper_ticks = $3 }
$1 == "mem" { mem[++mems] = $2; mem_ticks[mems] = $3; mem_sid[mems] = $4 }
$1 == "own" { own[++owns] = $2 }
$1 == "foreign" { foreign[++foreigns] = $2 }
$1 == "proc" {
    pgrp[$2] = $4
    sid[$2] = $5
    threads[$2] = $6 + 0
    ticks[$2] = $7
    state[$2] = $8
    kids[$3] = kids[$3] " " $2
    members[$5] = members[$5] " " $2
}
END {
    skip[0] = skip[1] = 1
    skip_tree(self)
    for (i = 1; i <= foreigns; i++) skip[foreign[i]] = 1
    if (keeper != "" && (is(keeper, keeper_ticks) || !(keeper in state))) {
        n = split(members[keeper], list, " ")
        for (i = 1; i <= n; i++) if (ticks[list[i]] + 0 >= keeper_ticks + 0) {
            helper[list[i]] = 1
            skip[list[i]] = 1
        }
        if (is(keeper, keeper_ticks)) add_list(kids[keeper], 0)
    }
    if (root != "") {
        if (is(root, root_ticks)) add(root)
        if (is(root, root_ticks) || !(root in state)) add_list(members[root], root_ticks)
    }
    for (i = 1; i <= mems; i++) {
        p = mem[i]
        if (is(p, mem_ticks[i])) add(p)
        else if (!(p in state) && mem_sid[i] == p) add_list(members[p], mem_ticks[i])
    }
    for (i = 1; i <= owns; i++) add(own[i])
    for (i = 1; i <= queued; i++) {
        p = queue[i]
        add_list(kids[p], 0)
        s = sid[p]
        if (s > 1 && ((s in run) || !(s in state))) add_list(members[s], 0)
    }
    for (p in run) if (lives(p)) print "R", p, ticks[p], state[p], sid[p], pgrp[p]
    for (p in helper) if (lives(p)) print "K", p, ticks[p], state[p], sid[p], pgrp[p]
}'

# FILES (of environments) on standard input, PATTERN: those that hold it as a whole variable, as "KIND pid" lines.
mt_grep_environ() { # KIND PATTERN
    xargs grep -lzxE "$2" /dev/null 2>/dev/null | sed "s,/environ\$,,; s,.*/,,; s/^/$1 /"
}

# Processes with a mark in their environment -> mt_marks: lines "own PID", "foreign PID". Own are those of
# RUN_ID with a rank that matches RANKS (an extended regular expression) and no "attempt.rank" that EXCEPT names.
# Reading the environment of a process that sleeps in the kernel can hang: those are read last, with a limit.
mt_find_marks() { # RUN_ID RANKS EXCEPT
    mt_id=$(printf '%s' "$1" | sed 's/[.]/[.]/g')
    mt_files=$(printf '%s\n' "$mt_table" | awk '$8 !~ /^[DZXx]/ { print "/proc/" $2 "/environ" }' |
        xargs grep -lzx 'MTLAUNCH_MARK=.*' /dev/null 2>/dev/null)
    mt_stuck=$(printf '%s\n' "$mt_table" | awk '$8 ~ /^D/ { print "/proc/" $2 "/environ" }')
    if [ -n "$mt_stuck" ] && command -v timeout >/dev/null; then
        mt_files="$mt_files
$(printf '%s\n' "$mt_stuck" | timeout -s KILL 3 xargs grep -lzx 'MTLAUNCH_MARK=.*' /dev/null 2>/dev/null)"
    fi
    mt_marks=$({
        printf '%s\n' "$mt_files" | mt_grep_environ all 'MTLAUNCH_MARK=.*'
        printf '%s\n' "$mt_files" | mt_grep_environ own "MTLAUNCH_MARK=${mt_id}[.][0-9]+[.]($2)"
        [ -z "$3" ] || printf '%s\n' "$mt_files" | mt_grep_environ not "MTLAUNCH_MARK=${mt_id}[.]($3)"
    } | awk '
        $1 == "all" { all[$2] = 1 }
        $1 == "own" { own[$2] = 1 }
        $1 == "not" { not[$2] = 1 }
        END { for (p in all) print ((p in own) && !(p in not)) ? "own" : "foreign", p }')
}

# What lives of the run -> mt_found: lines "pid ticks state sid pgrp"; mt_helpers: the same for the keeper's
# session. Reads mt_root, mt_root_ticks, mt_keeper, mt_keeper_ticks, mt_memory (lines "pid ticks sid").
mt_scan() { # RUN_ID RANKS EXCEPT
    mt_read_table
    mt_find_marks "$1" "$2" "$3"
    mt_scanned=$({
        printf 'self %s\n' "$$"
        [ -z "$mt_root" ] || printf 'root %s %s\n' "$mt_root" "$mt_root_ticks"
        [ -z "$mt_keeper" ] || printf 'keeper %s %s\n' "$mt_keeper" "$mt_keeper_ticks"
        [ -z "$mt_memory" ] || printf '%s\n' "$mt_memory" | sed 's/^/mem /'
        printf '%s\n' "$mt_marks" "$mt_table"
    } | awk "$mt_scan_program")
    mt_found=$(printf '%s\n' "$mt_scanned" | sed -n 's/^R //p')
    mt_helpers=$(printf '%s\n' "$mt_scanned" | sed -n 's/^K //p')
}

# Sets mt_root … mt_memory from the state just read, if it was written by this boot of this host; else clears
# them: then only marks tell.
mt_load_roots() { # BASE
    mt_root='' mt_root_ticks='' mt_keeper='' mt_keeper_ticks='' mt_memory=''
    mt_is_here || return 0
    [ -z "$mt_s_start_ticks" ] || mt_root=$mt_s_pid mt_root_ticks=$mt_s_start_ticks
    [ -z "$mt_s_keeper_ticks" ] || mt_keeper=$mt_s_keeper mt_keeper_ticks=$mt_s_keeper_ticks
    if [ -f "$1.seen" ] && [ ! -h "$1.seen" ]; then
        mt_memory=$(awk 'NR == 1 { if ($0 != boot) exit; next }
            $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { print $1, $2, $3 ~ /^[0-9]+$/ ? $3 : 0 }' \
            boot="boot_id=$mt_boot_id" "$1.seen" 2>/dev/null)
    fi
}

mt_has_mark() { # PID: that of this attempt and rank
    tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -qxF "MTLAUNCH_MARK=$mt_run_id.$mt_attempt.$mt_rank"
}

# The record of this attempt was removed: the marks tell whether its command lives. It leads a session and is the
# oldest that does; its parent is the keeper. -> mt_s_* as the record had them; fails when nothing has the mark.
mt_recover_state() {
    mt_s_pid='' mt_s_start_ticks='' mt_s_keeper='' mt_s_keeper_ticks='' mt_recovered=
    mt_read_table
    mt_find_marks "$mt_run_id" "$mt_rank" ''
    for mt_p in $(printf '%s\n' "$mt_marks" | sed -n 's/^own //p'); do
        mt_has_mark "$mt_p" || continue
        mt_stat "$mt_p" || continue
        mt_recovered=1
        [ "$mt_st_sid" = "$mt_p" ] || continue
        [ -z "$mt_s_pid" ] || [ "$mt_st_ticks" -lt "$mt_s_start_ticks" ] || continue
        mt_s_pid=$mt_p mt_s_start_ticks=$mt_st_ticks
    done
    [ -n "$mt_recovered" ] || return 1
    mt_s_run_id=$mt_run_id mt_s_attempt=$mt_attempt mt_s_host=$mt_host mt_s_boot_id=$mt_boot_id
    mt_stat "${mt_s_pid:-0}" || return 0
    mt_p=$mt_st_ppid
    if [ "$mt_p" != 1 ] && mt_stat "$mt_p" && [ "$mt_st_sid" = "$mt_p" ]; then
        mt_s_keeper=$mt_p mt_s_keeper_ticks=$mt_st_ticks
    fi
}

# Frames for a list of processes (lines "pid ticks state …"): NAME_total and up to 64 NAME=pid state command.
mt_frame_processes() { # NAME LIST
    mt_count=0
    while read -r mt_pid mt_ticks mt_letter mt_rest; do
        [ -n "$mt_pid" ] || continue
        mt_count=$((mt_count + 1))
        [ "$mt_count" -le 64 ] || continue
        mt_command=
        case $mt_letter in
        D*) ;; # reading the command line of a process stuck in the kernel can hang
        *) mt_command=$( (tr '\0' ' ' </proc/"$mt_pid"/cmdline | head -c 400) 2>/dev/null) ;;
        esac
        if [ -z "$mt_command" ]; then
            mt_command="[$( (head -c 60 </proc/"$mt_pid"/comm) 2>/dev/null)]"
        fi
        mt_frame "$1" "$mt_pid $mt_letter $mt_command"
    done <<MT_LIST
$2
MT_LIST
    mt_frame "$1_total" "$mt_count"
}
