# shellcheck shell=sh disable=SC2154,SC2034
# The scan: finds the processes of a run. "Nothing is alive" is reported only by a scan that proved to be complete: each
# stage ends its output with a line of its own, the table contains the process that reads it, and the command is checked
# once more without a fork. All verbs use this scan.

# Finds all processes of the run, starting from those that are known to belong to it. Input lines: the table's, and
# "self PID", "root PID TICKS", "keeper PID TICKS", "ended TICKS" (of the command, by its exit record), "mem PID TICKS
# SID" (noted earlier), "ours ID RANKS EXCEPT" (extended regular expressions), after it "mark PID NAME=VALUE" (found in
# an environment), and last "whole". A mark with this ID and a rank that matches RANKS belongs to the run, unless EXCEPT
# matches its "attempt.rank"; every other mark belongs to another run. Processes of a job have MTLAUNCH_MARK; keepers,
# supervisors and watches have MTLAUNCH_KEEPS. Output: "R pid ticks state sid pgrp" for each live process of the run, "K
# …" for those of its keepers, "F pid" for each live process of another run that was met on the way, and "end scan".
#
# A process belongs to the run of the nearest known process among itself and its ancestors; a run that was started
# inside this one is another run. The processes of a session belong to the run of its leader. A session without a leader
# counts as long as the run's exit is not recorded; after that, only its processes that started before the exit count,
# because the session id may have been reused.
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
function take(line,    w) {
    split(line, w, " ")
    if (w[1] == "proc") {
        parent[w[2]] = w[3]
        pgrp[w[2]] = w[4]
        sid[w[2]] = w[5]
        threads[w[2]] = w[6] + 0
        ticks[w[2]] = w[7]
        state[w[2]] = w[8]
        kids[w[3]] = kids[w[3]] " " w[2]
        members[w[5]] = members[w[5]] " " w[2]
    } else if (w[1] == "mark") {
        marked[w[2]] = 1
        if (w[3] ~ "^MTLAUNCH_MARK=" ours) is_own[w[2]] = 1
        if (w[3] ~ "^MTLAUNCH_KEEPS=" ours) is_kept[w[2]] = 1
        if (except != "" && w[3] ~ except) is_not[w[2]] = 1
    } else if (w[1] == "own") marked[w[2]] = is_own[w[2]] = 1
    else if (w[1] == "mem") { mem[++mems] = w[2]; mem_ticks[mems] = w[3]; mem_sid[mems] = w[4] }
    else if (w[1] == "self") self = w[2]
    else if (w[1] == "root") { root = w[2]; root_ticks = w[3] }
    else if (w[1] == "keeper") { keeper = w[2]; keeper_ticks = w[3] }
    else if (w[1] == "ended") ended = w[2]
    else if (w[1] == "ours") {
        ours = w[2] "[.](" w[3] ")$"
        if (w[4] != "") except = "=" w[2] "[.](" w[4] ")$"
    } else if (w[1] == "whole") whole = 1
}
function judge(p) {
    if ((p in is_not) || !((p in is_own) || (p in is_kept))) whose[p] = "foreign"
    else if (p in is_own) { own[++owns] = p; whose[p] = "own" }
    else kept[++keeps] = p
}
BEGIN {
    n = ARGC > 1 ? split(ARGV[1], list, "\n") : 0
    for (i = 1; i <= n; i++) take(list[i])
    if (ARGC < 2) while ((getline line) > 0) take(line)
    if (!whole) exit
    for (p in marked) judge(p)
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

# PATTERN FILE… -> mt_hits: adds a line "mark PID NAME=VALUE" for each environment in which a whole variable matches the
# pattern; its value may contain letters, digits, ".", "_" and "-". The last FILE is /proc/self/cmdline: grep's own
# command line contains MTLAUNCH_SCAN=end as a whole word, so this match is the end of the output and shows that all
# files before it were read. grep separates its lines by NUL bytes, which command substitutions drop (bash warns about
# it); the lines can still be told apart, because file names begin with "/" and no value contains one. env runs grep, so
# that it has a command line of its own even in a shell that has grep built in.
mt_grep_environs() {
    mt_pattern=$1
    shift
    { mt_text=$(exec 2>&1 && env LC_ALL=C grep -azHsxE -e "$mt_pattern" -e MTLAUNCH_SCAN=end "$@"); } 2>/dev/null
    mt_code=$?
    mt_take_hits "$mt_text" && return 0
    mt_set_unproven grep "$mt_code" "$mt_text"
    return 1
}

# Parse the output of grep -> mt_hits; fails when its end is missing. Other output is accepted only before the first
# file name.
mt_take_hits() {
    mt_word=begin
    set -f
    IFS=/
    for mt_next in $1; do
        case $mt_word/$mt_next in
        begin/proc | next/proc) mt_word=proc ;;
        begin/*) ;;
        proc/*[!a-z0-9]*) mt_word=bad ;;
        proc/*) mt_word=$mt_next ;;
        [1-9]*/*[!A-Za-z0-9._:=-]*) mt_word=bad ;;
        [1-9]*/environ:MTLAUNCH_SCAN=end) mt_word=next ;; # a variable of that name is no mark
        [1-9]*/environ:*)
            mt_hits="${mt_hits}mark $mt_word ${mt_next#environ:}
"
            mt_word=next
            ;;
        self/cmdline:MTLAUNCH_SCAN=end) mt_word=end ;;
        *) mt_word=bad ;;
        esac
    done
    unset IFS
    set +f
    [ "$mt_word" = end ]
}

mt_list_environs() { # PIDS -> mt_list: for mt_grep_environs
    mt_list=
    for mt_p in $1; do
        mt_list="$mt_list /proc/$mt_p/environ"
    done
    mt_list="$mt_list /proc/self/cmdline"
}

# Processes with a mark in their environment -> mt_marks: lines "mark PID MTLAUNCH_MARK=VALUE" and "mark PID
# MTLAUNCH_KEEPS=VALUE". Fails with mt_unproven when it is not proven that all environments were read.
mt_find_marks() {
    mt_marks='' mt_hits='' mt_word=''
    # line by line, because the time of an expansion grows with the square of the text's length
    set -f
    IFS='
'
    for mt_line in $mt_table; do
        unset IFS
        set +f
        case $mt_line in
        'env '*)
            # shellcheck disable=SC2086 # the names hold no blanks
            mt_grep_environs "$mt_mark_pattern" ${mt_line#env} || return 1
            ;;
        stuck*) break ;;
        esac
    done
    if [ "$mt_word" != end ]; then
        mt_set_unproven awk 0 ''
        return 1
    fi
    mt_stuck=${mt_line#stuck}
    mt_grep_stuck || return 1
    mt_marks=$mt_hits
}
mt_mark_pattern='MTLAUNCH_(MARK|KEEPS)=[A-Za-z0-9._-]*'

# Reading the environment of a process that sleeps in the kernel can hang, so these are read last, with a time limit.
# Processes that cannot be read in time are found only by their parent, their session or the notes in .seen. -> mt_hits
mt_grep_stuck() {
    [ -n "$mt_stuck" ] && command -v timeout >/dev/null || return 0
    {
        # shellcheck disable=SC2086 # the names hold no blanks
        mt_text=$(exec 2>&1 && timeout -s KILL 3 env LC_ALL=C grep -azHsxE -e "$mt_mark_pattern" \
            -e MTLAUNCH_SCAN=end $mt_stuck /proc/self/cmdline)
    } 2>/dev/null
    mt_code=$?
    mt_take_hits "$mt_text" && return 0
    case $mt_code in
    124 | 137) return 0 ;; # the time was up
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

# The time when the command ended, in clock ticks since boot (100 per second) -> mt_ended_ticks, or ""
mt_read_end() {
    mt_ended_ticks=
    [ -n "$mt_root$mt_keeper$mt_memory" ] || return 0
    mt_read_exit "$mt_root_base.exit" "$mt_root_id" "$mt_root_attempt" || return 0
    case $mt_x_uptime in
    *[!0-9.]* | *.*.* | .* | *.) ;;
    *.[0-9][0-9]) mt_ended_ticks=${mt_x_uptime%.*}${mt_x_uptime#*.} ;;
    esac
}

# Live processes of the run -> mt_found: lines "pid ticks state sid pgrp"; mt_helpers: the same for its keepers;
# mt_inner: pids of processes of other runs that were met among them. RANKS and EXCEPT as in mt_scan_program; the
# attempts are those that mt_attempts matches. Reads mt_root, mt_root_ticks, mt_keeper, mt_keeper_ticks, mt_memory
# (lines "mem pid ticks sid"). Fails with mt_unproven when the scan is not proven complete: mt_found and mt_helpers are
# then empty, which means nothing.
mt_scan() { # RUN_ID RANKS EXCEPT
    mt_found='' mt_helpers='' mt_inner='' mt_unproven=''
    mt_read_table && mt_find_marks && mt_read_end || return 1
    # nothing to look for: no process of the run is known, and no mark belongs to the run
    [ -n "$mt_root$mt_keeper$mt_memory" ] || case $mt_marks in
    *"=$1."*) ;;
    *) return 0 ;;
    esac
    mt_escape "$1"
    mt_close "$$" "ours ${mt_id} ${mt_attempts}[.]($2) $3" && mt_check_root
}

mt_close() { # PID LINES: PID and its descendants are left out
    mt_text="self $1
$2
${mt_root:+root $mt_root $mt_root_ticks}
${mt_keeper:+keeper $mt_keeper $mt_keeper_ticks}
${mt_ended_ticks:+ended $mt_ended_ticks}
$mt_memory
$mt_marks
$mt_table
whole"
    # the text is passed to awk as an argument, or through a pipe when it might be too long for that
    if [ "${#mt_text}" -lt 60000 ]; then
        mt_text=$(exec 2>&1 && awk "$mt_scan_program" "$mt_text")
    else
        mt_text=$(exec 2>&1 && printf '%s\n' "$mt_text" | awk "$mt_scan_program")
    fi
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

# Check the command once more, without a fork: a table that lacks it although it is alive is incomplete.
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

# If a folder was not created because nothing could be forked, report that: the folder is not at fault.
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

# Name the limit that made a fork fail, as far as it can be read without a fork -> mt_unproven
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

# Set mt_root … mt_memory from the state just read, if it was written by this boot of this host; else clear them, so
# that only marks count.
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

# Remember a process for later scans, once -> mt_memory: lines "mem pid ticks sid"
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

# The live processes of the run that are known without a scan: the command and the remembered ones; no fork -> mt_found
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

# Recover the removed record of this attempt from the marks: the command is the oldest marked process that leads a
# session, and its parent is the keeper. -> mt_s_* as in the record; fails when no process has the mark, with
# mt_unproven when that is not proven.
mt_recover_state() {
    mt_s_pid='' mt_s_start_ticks='' mt_s_keeper='' mt_s_keeper_ticks='' mt_recovered=
    mt_keeper=
    mt_read_table && mt_find_marks || return 1
    for mt_p in $mt_marks; do
        case $mt_p in
        mark) continue ;;
        MTLAUNCH_MARK="$mt_run_id.$mt_attempt.$mt_rank") mt_p=$mt_number ;;
        *)
            mt_number=$mt_p
            continue
            ;;
        esac
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
    *) { mt_command=$(tr '\0' ' ' <"/proc/$2/cmdline"); } 2>/dev/null ;;
    esac
    # with printf: truncating millions of characters with a pattern takes minutes
    [ "${#mt_command}" -le 400 ] || mt_command=$(printf '%.400s' "$mt_command")
    if [ -z "$mt_command" ]; then
        IFS= read -r mt_command 2>/dev/null </proc/"$2"/comm
        mt_command="[$mt_command]"
    fi
    mt_frame "$1" "$2 $3 $mt_command"
}

# Write frames for a list of processes (lines "pid ticks state …"): NAME_total and up to 64 NAME=pid state command.
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
