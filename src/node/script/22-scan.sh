# shellcheck shell=sh disable=SC2154,SC2034
# The scan: which processes belong to a run. "Nothing is alive" is reported only by a scan that proved that it was complete: each stage
# ends its output with a line of its own, the table holds the process that reads it, and the command is looked at once
# more without a fork. All verbs use this one.

# The closure of what the run's processes reach. Input lines: the table's, and "self PID", "root PID TICKS",
# "keeper PID TICKS", "ended TICKS" (of the command, by its exit record), "mem PID TICKS SID" (noted earlier), and by
# the environment "own PID", "kept PID" (the run's keepers) and "foreign PID" (another run's job, keeper, supervisor
# or watch); last "whole". Output: "R pid ticks state sid pgrp" for each process of the run that lives, "K …" for those
# of its keepers, "F pid" for each of another run that was met on the way, and "end scan".
#
# Whose a process is, the nearest process above it that is known tells, itself first: a run that was started inside
# this one is another run. A session counts by its leader. One without a leader counts while the run's exit is not
# recorded, or for what was born before that: later its number may have been given again.
# shellcheck disable=SC2016
mt_scan_program='
function is_other(p,    n) {
    for (n = 0; p > 1 && (p in state) && n < 4096; n++) {
        if (p in whose) return whose[p] == "foreign"
        p = parent[p]
    }
    return 0
}
function add(p) {
    if (!(p in state) || (p in run) || (p in skip)) return
    if (is_other(p)) {
        met[p] = 1
        return
    }
    run[p] = 1
    queue[++queued] = p
}
function add_list(text,    list, n, i) {
    n = split(text, list, " ")
    for (i = 1; i <= n; i++) add(list[i])
}
function add_leaderless(s, since,    list, n, i) {
    n = split(members[s], list, " ")
    for (i = 1; i <= n; i++)
        if (ticks[list[i]] + 0 >= since + 0 && (ended == "" || ticks[list[i]] + 0 <= ended + 0)) add(list[i])
}
function skip_tree(p,    list, n, i) {
    if (p in skip) return
    skip[p] = 1
    n = split(kids[p], list, " ")
    for (i = 1; i <= n; i++) skip_tree(list[i])
}
function clear_above(p,    n) {
    for (n = 0; p > 1 && (p in state) && n < 4096; n++) {
        if (whose[p] == "foreign") delete whose[p]
        p = parent[p]
    }
}
function help(p) {
    if (!(p in state) || (p in skip)) return
    helper[p] = 1
    skip[p] = 1
    whose[p] = "kept"
}
function lives(p) { return state[p] !~ /^[ZXx]/ || threads[p] > 1 }
function is(p, t) { return p != "" && (p in state) && ticks[p] == t }
$1 == "self" { self = $2 }
$1 == "root" { root = $2; root_ticks = $3 }
$1 == "keeper" { keeper = $2; keeper_ticks = $3 }
$1 == "ended" { ended = $2 }
$1 == "mem" { mem[++mems] = $2; mem_ticks[mems] = $3; mem_sid[mems] = $4 }
$1 == "own" { own[++owns] = $2; whose[$2] = "own" }
$1 == "kept" { kept[++keeps] = $2 }
$1 == "foreign" { whose[$2] = "foreign" }
$1 == "whole" { whole = 1 }
$1 == "proc" {
    parent[$2] = $3
    pgrp[$2] = $4
    sid[$2] = $5
    threads[$2] = $6 + 0
    ticks[$2] = $7
    state[$2] = $8
    kids[$3] = kids[$3] " " $2
    members[$5] = members[$5] " " $2
}
END {
    if (!whole) exit
    skip[0] = skip[1] = 1
    skip_tree(self)
    keeper_lives = is(keeper, keeper_ticks)
    root_lives = is(root, root_ticks)
    if (keeper_lives) clear_above(keeper)
    if (root_lives) clear_above(root)
    for (i = 1; i <= keeps; i++) help(kept[i])
    if (keeper_lives) {
        n = split(members[keeper], list, " ")
        for (i = 1; i <= n; i++) if (ticks[list[i]] + 0 >= keeper_ticks + 0) help(list[i])
    }
    if (root_lives) {
        whose[root] = "own"
        add(root)
        add_list(members[root])
    } else if (root != "" && !(root in state) && (ended != "" || keeper_lives)) add_leaderless(root, root_ticks)
    if (keeper_lives) add_list(kids[keeper])
    for (i = 1; i <= mems; i++) {
        p = mem[i]
        if (is(p, mem_ticks[i])) add(p)
        else if (!(p in state) && mem_sid[i] == p && (ended != "" || keeper_lives || root_lives))
            add_leaderless(p, mem_ticks[i])
    }
    for (i = 1; i <= owns; i++) add(own[i])
    for (i = 1; i <= queued; i++) {
        p = queue[i]
        add_list(kids[p])
        s = sid[p]
        if (s > 1 && (s in run)) add_list(members[s])
        else if (s > 1 && !(s in state)) add_leaderless(s, 0)
    }
    for (p in run) if (lives(p)) print "R", p, ticks[p], state[p], sid[p], pgrp[p]
    for (p in helper) if (lives(p)) print "K", p, ticks[p], state[p], sid[p], pgrp[p]
    for (p in met) if (lives(p)) print "F", p
    print "end scan"
}'

# LINES ("env FILE", others are passed over), BATCHES, PATTERN -> mt_hits: the pids of those whose environment holds the
# pattern as a whole variable, with a blank before and behind each. grep's own command line holds MTLAUNCH_SCAN=end as
# a whole word: so /proc/self/cmdline is told for each batch that was read to its end.
mt_grep_environs() {
    mt_hits=' ' mt_number=0
    mt_text=$(
        exec 2>&1
        printf '%s\n' "$1" | sed -n 's/^env //p' | xargs -n 400 grep -lzsxE -e "$3" -e MTLAUNCH_SCAN=end
    )
    mt_code=$?
    mt_take_hits "$mt_text"
    [ "$mt_number" != "$2" ] || return 0
    case $mt_code in
    125 | 127) mt_tool='grep' ;;
    129 | 1[3-5][0-9]) mt_tool='xargs' ;;
    *) mt_tool='sed, xargs or grep' ;;
    esac
    mt_set_unproven "$mt_tool" "$mt_code" "$mt_text"
    return 1
}

mt_take_hits() { # OUTPUT of grep -l -> mt_hits, mt_number
    set -f
    # shellcheck disable=SC2086 # the names hold no blanks
    set -- $1
    set +f
    for mt_file; do
        case $mt_file in
        /proc/self/cmdline) mt_number=$((mt_number + 1)) ;;
        /proc/[0-9]*/environ)
            mt_file=${mt_file#/proc/}
            mt_hits="$mt_hits${mt_file%/environ} "
            ;;
        esac
    done
}

mt_list_environs() { # PIDS -> mt_list, mt_list_batches: for mt_grep_environs
    mt_list='' mt_number=0 mt_list_batches=1
    for mt_p in $1; do
        mt_list="${mt_list}env /proc/$mt_p/environ
"
        mt_number=$((mt_number + 1))
        if [ "$((mt_number % 399))" = 0 ]; then
            mt_list_batches=$((mt_list_batches + 1))
            mt_list="${mt_list}env /proc/self/cmdline
"
        fi
    done
    mt_list="${mt_list}env /proc/self/cmdline"
}

# Reading the environment of a process that sleeps in the kernel can hang: those are read last, with a limit. What
# cannot be read within it is known only by its parent, its session or the notes. -> mt_hits
mt_grep_stuck() {
    mt_hits=' '
    [ -n "$mt_stuck" ] && command -v timeout >/dev/null || return 0
    mt_text=$(
        exec 2>&1
        # shellcheck disable=SC2086 # the names hold no blanks
        printf '%s\n' $mt_stuck /proc/self/cmdline |
            timeout -s KILL 3 xargs grep -lzsxE -e 'MTLAUNCH_(MARK|KEEPS)=.*' -e MTLAUNCH_SCAN=end
    )
    mt_code=$?
    mt_number=0
    mt_take_hits "$mt_text"
    case $mt_code.$mt_number in
    124.* | 137.*) return 0 ;; # the time was up
    *.0) ;;
    *) return 0 ;;
    esac
    mt_set_unproven grep "$mt_code" "$mt_text"
    return 1
}

mt_escape() { # RUN or RUN_ID -> mt_id: as a regular expression
    mt_id='' mt_rest=$1
    while :; do
        case $mt_rest in
        *.*)
            mt_id="$mt_id${mt_rest%%.*}[.]"
            mt_rest=${mt_rest#*.}
            ;;
        *) break ;;
        esac
    done
    mt_id=$mt_id$mt_rest
}

# Processes with a mark in their environment -> mt_marks: lines "own PID", "kept PID", "foreign PID". MTLAUNCH_MARK is
# that of a job's processes, MTLAUNCH_KEEPS that of keepers, supervisors and watches. Own and kept are those of RUN_ID
# with an attempt that matches mt_attempts, a rank that matches RANKS (extended regular expressions) and no
# "attempt.rank" that EXCEPT names.
mt_find_marks() { # RUN_ID RANKS EXCEPT
    mt_marks='' mt_own=' '
    mt_escape "$1"
    mt_grep_environs "$mt_table" "$mt_batches" 'MTLAUNCH_(MARK|KEEPS)=.*' || return 1
    mt_all=$mt_hits
    mt_grep_stuck || return 1
    mt_all=$mt_all${mt_hits# }
    [ "$mt_all" != ' ' ] || return 0
    mt_not=' ' mt_kept=' '
    mt_list_environs "$mt_all"
    mt_grep_environs "$mt_list" "$mt_list_batches" "MTLAUNCH_MARK=${mt_id}[.]${mt_attempts}[.]($2)" || return 1
    mt_own=$mt_hits
    if [ -n "$3" ]; then
        mt_grep_environs "$mt_list" "$mt_list_batches" "MTLAUNCH_(MARK|KEEPS)=${mt_id}[.]($3)" || return 1
        mt_not=$mt_hits
    fi
    mt_find_kept "$2" || return 1
    for mt_p in $mt_all; do
        case $mt_not in
        *" $mt_p "*)
            mt_marks="${mt_marks}foreign $mt_p
"
            continue
            ;;
        esac
        case $mt_own/$mt_kept in
        *" $mt_p "*/*) mt_marks="${mt_marks}own $mt_p
" ;;
        */*" $mt_p "*) mt_marks="${mt_marks}kept $mt_p
" ;;
        *) mt_marks="${mt_marks}foreign $mt_p
" ;;
        esac
    done
}

# Which of mt_all are keepers of the run -> mt_kept. Those in the session of the keeper that is known are, without
# another look.
mt_find_kept() { # RANKS
    mt_kept=' ' mt_unknown=
    for mt_p in $mt_all; do
        case $mt_own in
        *" $mt_p "*) continue ;;
        esac
        if [ -n "$mt_keeper" ] && mt_alive "$mt_keeper" "$mt_keeper_ticks" && mt_stat "$mt_p" &&
            [ "$mt_st_sid" = "$mt_keeper" ]; then
            mt_kept="$mt_kept$mt_p "
        else
            mt_unknown="$mt_unknown $mt_p"
        fi
    done
    [ -n "$mt_unknown" ] || return 0
    mt_list_environs "$mt_unknown"
    mt_grep_environs "$mt_list" "$mt_list_batches" "MTLAUNCH_KEEPS=${mt_id}[.]${mt_attempts}[.]($1)" || return 1
    mt_kept=$mt_kept${mt_hits# }
}

# When the command ended, in clock ticks since boot, of which there are 100 a second -> mt_ended_ticks, or ""
mt_read_end() {
    mt_ended_ticks=
    [ -n "$mt_root$mt_keeper$mt_memory" ] || return 0
    mt_read_exit "$mt_root_base.exit" "$mt_root_id" "$mt_root_attempt" || return 0
    case $mt_x_uptime in
    *[!0-9.]* | *.*.* | .* | *.) ;;
    *.[0-9][0-9]) mt_ended_ticks=${mt_x_uptime%.*}${mt_x_uptime#*.} ;;
    esac
}

# What lives of the run -> mt_found: lines "pid ticks state sid pgrp"; mt_helpers: the same for its keepers;
# mt_inner: pids of other runs' processes that were met among them. Reads mt_root, mt_root_ticks, mt_keeper,
# mt_keeper_ticks, mt_memory (lines "pid ticks sid"). Fails with mt_unproven when it is not proven that it saw all:
# mt_found and mt_helpers are empty then, and that means nothing.
mt_scan() { # RUN_ID RANKS EXCEPT
    mt_found='' mt_helpers='' mt_inner='' mt_unproven=''
    mt_read_table && mt_find_marks "$1" "$2" "$3" && mt_read_end && mt_close && mt_check_root
}

mt_close() { # [PID]: it and what descends from it is passed over; default: this shell
    set -- "self ${1:-$$}"
    [ -z "$mt_root" ] || set -- "$@" "root $mt_root $mt_root_ticks"
    [ -z "$mt_keeper" ] || set -- "$@" "keeper $mt_keeper $mt_keeper_ticks"
    [ -z "$mt_ended_ticks" ] || set -- "$@" "ended $mt_ended_ticks"
    mt_text=$(
        exec 2>&1
        printf '%s\n' "$@" "$mt_memory" "$mt_marks" "$mt_table" whole | awk "$mt_scan_program"
    )
    mt_code=$?
    case $mt_text in
    *"end scan") ;;
    *)
        mt_set_unproven awk "$mt_code" "$mt_text"
        return 1
        ;;
    esac
    set -f
    # shellcheck disable=SC2086 # words without blanks
    set -- $mt_text
    set +f
    while [ $# -gt 0 ]; do
        case $1 in
        R) mt_found="$mt_found${mt_found:+
}$2 $3 $4 $5 $6" ;;
        K) mt_helpers="$mt_helpers${mt_helpers:+
}$2 $3 $4 $5 $6" ;;
        F)
            mt_inner="$mt_inner $2"
            shift 2
            continue
            ;;
        *)
            shift
            continue
            ;;
        esac
        shift 6
    done
}

# The command once more, without a fork: a table that lacks it although it lives is not whole.
mt_check_root() {
    [ -n "$mt_root" ] && mt_alive "$mt_root" "$mt_root_ticks" || return 0
    case "
$mt_found" in
    *"
$mt_root "*) return 0 ;;
    esac
    mt_unproven="the process table lacks process $mt_root, which lives"
    mt_found='' mt_helpers=''
    return 1
}

mt_scan_or_fail() { # as mt_scan
    mt_scan "$@" || mt_fail_scan
}

mt_fail_scan() {
    mt_explain_unproven
    mt_frame_unproven
    mt_end
}

# A folder was not made because nothing could be forked: that is no fault of the folder.
mt_check_problem() {
    case $mt_problem in
    *[Cc]annot\ fork* | *can\'t\ fork* | *fork:*)
        mt_unproven='cannot fork'
        mt_fail_scan
        ;;
    esac
}

mt_frame_unproven() {
    mt_prefix=
    mt_frame error scan
    mt_frame detail "$mt_unproven"
}

# The limit that a fork has met, as far as it can be read without one -> mt_unproven
mt_explain_unproven() {
    [ "$mt_unproven" = 'cannot fork' ] || return 0
    mt_number=
    {
        while IFS= read -r mt_line; do
            case $mt_line in
            'Max processes '*)
                # shellcheck disable=SC2086
                set -- $mt_line
                mt_digits "$3"
                ;;
            esac
        done </proc/self/limits
    } 2>/dev/null
    mt_unproven="cannot fork: the process limit of this user, of the service or of the container is reached"
    [ -z "$mt_number" ] || mt_unproven="$mt_unproven, ulimit -u: $mt_number"
}

# Sets mt_root … mt_memory from the state just read, if it was written by this boot of this host; else clears
# them: then only marks tell.
mt_load_roots() { # BASE
    mt_root='' mt_root_ticks='' mt_keeper='' mt_keeper_ticks='' mt_memory=''
    mt_root_base=$1 mt_root_id=$mt_s_run_id mt_root_attempt=$mt_s_attempt
    mt_is_here || return 0
    [ -z "$mt_s_start_ticks" ] || mt_root=$mt_s_pid mt_root_ticks=$mt_s_start_ticks
    [ -z "$mt_s_keeper_ticks" ] || mt_keeper=$mt_s_keeper mt_keeper_ticks=$mt_s_keeper_ticks
    [ -f "$1.seen" ] && [ ! -h "$1.seen" ] || return 0
    {
        IFS= read -r mt_line && [ "$mt_line" = "boot_id=$mt_boot_id" ] || return 0
        while read -r mt_p mt_t mt_rest; do
            mt_add_memory "$mt_p" "$mt_t" "${mt_rest%% *}"
        done
    } <"$1.seen" 2>/dev/null
}

# Note a process for later looks, once -> mt_memory: lines "mem pid ticks sid"
mt_add_memory() { # PID TICKS SID
    case $1.$2 in
    .* | *. | *[!0-9.]*) return 0 ;;
    esac
    mt_digits "$3"
    case "
$mt_memory
" in
    *"
mem $1 $2 "*) return 0 ;;
    esac
    mt_memory="$mt_memory${mt_memory:+
}mem $1 $2 ${mt_number:-0}"
}

# What is known of the run and lives, without a fork: the command and what was noted -> mt_found
mt_find_known() {
    mt_found=
    mt_find_one "$mt_root" "$mt_root_ticks"
    # shellcheck disable=SC2086 # four words a process
    set -- $mt_memory
    while [ $# -ge 4 ]; do
        [ "$2 $3" = "$mt_root $mt_root_ticks" ] || mt_find_one "$2" "$3"
        shift 4
    done
}

mt_find_one() { # PID TICKS
    mt_alive "$1" "$2" || return 0
    mt_found="$mt_found${mt_found:+
}$1 $2 $mt_st_state $mt_st_sid $mt_st_pgrp"
}

# The record of this attempt was removed: the marks tell whether its command lives. It leads a session and is the
# oldest that does; its parent is the keeper. -> mt_s_* as the record had them; fails when nothing has the mark, and
# with mt_unproven when that is not proven.
mt_recover_state() {
    mt_s_pid='' mt_s_start_ticks='' mt_s_keeper='' mt_s_keeper_ticks='' mt_recovered=
    mt_keeper=
    mt_read_table && mt_find_marks "$mt_run_id" "$mt_rank" '' || return 1
    [ "$mt_own" != ' ' ] || return 1
    mt_list_environs "$mt_own"
    mt_grep_environs "$mt_list" "$mt_list_batches" "MTLAUNCH_MARK=${mt_id}[.]${mt_attempt}[.]$mt_rank" || return 1
    for mt_p in $mt_hits; do
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

mt_frame_process() { # NAME PID STATE
    mt_command=
    case $3 in
    D*) ;; # reading the command line of a process stuck in the kernel can hang
    *) mt_command=$( (tr '\0' ' ' </proc/"$2"/cmdline | head -c 400) 2>/dev/null) ;;
    esac
    if [ -z "$mt_command" ]; then
        IFS= read -r mt_command 2>/dev/null </proc/"$2"/comm
        mt_command="[$mt_command]"
    fi
    mt_frame "$1" "$2 $3 $mt_command"
}

# Frames for a list of processes (lines "pid ticks state …"): NAME_total and up to 64 NAME=pid state command.
mt_frame_processes() { # NAME LIST
    mt_count=0
    while read -r mt_pid mt_ticks mt_letter mt_rest; do
        [ -n "$mt_pid" ] || continue
        mt_count=$((mt_count + 1))
        [ "$mt_count" -le 64 ] || continue
        mt_frame_process "$1" "$mt_pid" "$mt_letter"
    done <<MT_LIST
$2
MT_LIST
    mt_frame "$1_total" "$mt_count"
}
