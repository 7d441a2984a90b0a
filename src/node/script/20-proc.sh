# shellcheck shell=sh disable=SC2154,SC2034
# Reads and writes the files of a run, and reads the process table. The keeper's text contains this part too.

mt_pause() { # SECONDS, may be a fraction: busybox without fancy sleep takes whole ones only
    sleep "$1" 2>/dev/null || sleep 1
}

mt_digits() { # TEXT -> mt_number: TEXT when it is a number, else ""
    case $1 in
    '' | *[!0-9]*) mt_number= ;;
    *) mt_number=$1 ;;
    esac
}

# FILE, a short one -> mt_text, without trailing newlines, as a command substitution would give it; "" when there is no
# file
mt_read_text() {
    mt_text=
    {
        while IFS= read -r mt_line || [ -n "$mt_line" ]; do
            mt_text="$mt_text${mt_text:+
}$mt_line"
        done <"$1"
    } 2>/dev/null
}

mt_read_last() { # FILE -> mt_last, its last line; "" when there is none
    mt_last=
    {
        while IFS= read -r mt_line || [ -n "$mt_line" ]; do
            mt_last=$mt_line
        done <"$1"
    } 2>/dev/null
}

# FILE, a .state -> mt_s_*; fails when there is none.
mt_read_state() {
    mt_s_run_id='' mt_s_host='' mt_s_user='' mt_s_uid='' mt_s_boot_id='' mt_s_pid='' mt_s_start_ticks=''
    mt_s_attempt='' mt_s_started='' mt_s_master_port='' mt_s_keeper='' mt_s_keeper_ticks='' mt_s_starter=''
    mt_s_starter_ticks='' mt_s_log_base='' mt_s_head=''
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
            head=*) mt_s_head=$mt_value ;;
            esac
        done <"$1"
    } 2>/dev/null || return 1
    [ -n "$mt_s_run_id" ]
}

mt_still_ours() { # .state names this attempt of this run
    mt_read_state "$mt_base.state" && [ "$mt_s_run_id" = "$mt_run_id" ] && [ "$mt_s_attempt" = "$mt_attempt" ]
}

# Has another run or attempt taken over this name? Then this one must no longer write the files.
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

# STATUS -> mt_signal: the name of the signal that the status stands for, or "". Common signals need no fork.
mt_name_signal() {
    mt_signal=
    case $1 in
    129) mt_signal=HUP ;;
    130) mt_signal=INT ;;
    131) mt_signal=QUIT ;;
    134) mt_signal=ABRT ;;
    135) mt_signal=BUS ;;
    137) mt_signal=KILL ;;
    139) mt_signal=SEGV ;;
    143) mt_signal=TERM ;;
    *)
        [ "$1" -gt 128 ] 2>/dev/null || return 0
        mt_signal=$(kill -l "$1" 2>/dev/null) || mt_signal=
        case $mt_signal in
        SIG*) mt_signal=${mt_signal#SIG} ;;
        *[!A-Z0-9+-]* | [0-9]*) mt_signal= ;;
        esac
        ;;
    esac
}

# Write the exit record of RUN_ID ATTEMPT to BASE.exit, unless there is one: the first writer wins.
mt_write_exit() { # BASE RUN_ID ATTEMPT STATUS [SETUP_LINE]
    ! mt_read_exit "$1.exit" "$2" "$3" || return 0
    mt_name_signal "$4"
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

# Explain why a stage of a scan did not prove that it ran to its end -> mt_unproven. STATUS and OUTPUT, which includes
# errors, are those of the stage; with xargs, 125 means that its command was killed and 127 that it is missing.
mt_set_unproven() { # TOOL STATUS OUTPUT
    for mt_tool in awk sed xargs grep; do
        case $3 in
        *"$mt_tool: not found"* | *"$mt_tool: command not found"* | *"$mt_tool: No such file"*)
            mt_unproven="$mt_tool is missing"
            return 0
            ;;
        esac
    done
    case $3 in
    *[Cc]annot\ fork* | *can\'t\ fork* | *fork:*) mt_unproven='cannot fork' ;;
    *)
        case $2 in
        125 | 129 | 13[0-9] | 14[0-9] | 15[0-9]) mt_unproven="$1 was killed" ;;
        126 | 127) mt_unproven="$1 is missing" ;;
        0 | 123) mt_unproven="the output of $1 was cut" ;;
        *) mt_unproven="$1 failed with status $2" ;;
        esac
        ;;
    esac
}

# All processes -> mt_table, by one pass over /proc/PID/stat. Lines: "env FILE…", the environments in which to look for
# marks, at most 2000 per line, followed by /proc/self/cmdline; "stuck FILE…", those of processes that sleep in the
# kernel; "proc pid ppid pgrp sid threads ticks state"; and "end table". Other output may precede these lines, such as
# the loader's message about a library that cannot be preloaded. Fails with mt_unproven when the last line or this
# process is missing: then the table is incomplete. mawk exits with status 2 when a process disappears between the
# opening and the reading of its file; the pass is then repeated.
mt_read_table() {
    for mt_tries_left in 4 3 2 1 0; do
        mt_read_table_once && return 0
        [ "$mt_code" = 2 ] && [ "$mt_unproven" != 'cannot fork' ] || return 1
    done
    return 1
}

mt_read_table_once() {
    mt_unproven=
    IFS=' ' read -r mt_self mt_rest </proc/self/stat
    mt_print_table /proc/[0-9]* end
    case $mt_table in
    *"
proc $mt_self "*"
end table") return 0 ;;
    esac
    mt_set_unproven awk "$mt_code" "$mt_table"
    mt_table=
    return 1
}

# The names are passed to awk as arguments, or through a pipe when they might be too long for that.
# shellcheck disable=SC2016
mt_table_program='
function look(name) {
    if (name == "end") whole = 1
    if (name == "end" || !read_stat(name)) return
    proc[++procs] = "proc " substr(name, 7) " " word[2] " " word[3] " " word[4] " " word[18] " " word[20] " " word[1]
    if (word[1] ~ /^D/) stuck = stuck " " name "/environ"
    else if (word[1] !~ /^[ZXx]/) {
        if (count++ % 2000 == 0) printf "%s", (count > 1 ? " /proc/self/cmdline\nenv" : "env")
        printf " %s/environ", name
    }
}
BEGIN {
    print "begin table"
    for (i = 1; i < ARGC; i++) look(ARGV[i])
    if (ARGC < 2) while ((getline name) > 0) look(name)
    if (!whole) exit
    print (count ? "" : "env") " /proc/self/cmdline"
    print "stuck" stuck
    for (i = 1; i <= procs; i++) print proc[i]
    print "end table"
}'

mt_print_table() { # NAME… -> mt_table, mt_code
    if [ $# -lt 2000 ]; then
        mt_table=$(exec 2>&1 && LC_ALL=C awk "$mt_awk_stat$mt_table_program" "$@")
    else
        mt_table=$(exec 2>&1 && printf '%s\n' "$@" | LC_ALL=C awk "$mt_awk_stat$mt_table_program")
    fi
    mt_code=$?
}
