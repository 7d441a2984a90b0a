# shellcheck shell=sh disable=SC2154,SC2034
# The start: claims the name, launches the keeper, watches until the command runs. Whatever dies on the way, .state and
# .exit remain correct: the keeper needs neither this script nor the head.

mt_start_answer() { # STAGE
    [ "$1" != claim ] || mt_check_problem
    mt_frame stage "$1"
    [ -z "$mt_problem" ] || mt_frame problem "$mt_problem"
    mt_end
}

# The text of .state -> mt_text; pid and keeper are filled in later.
mt_make_state() {
    mt_text="format=1
run_id=$mt_run_id
host=$mt_host
uid=$mt_uid
user=$mt_user
boot_id=$mt_boot_id
pid=
start_ticks=
pgid=
container=$mt_container
container_started=$mt_container_began
attempt=$mt_attempt
started=$mt_started
master_port=$mt_master_port
version=$mt_version
head=$mt_head
keeper=
keeper_ticks=
starter=$mt_starter
starter_ticks=$mt_starter_ticks
log_base=$mt_log_base
"
}

# Highest N among the logs renamed to .log.N -> mt_highest
mt_count_logs() {
    mt_highest=0
    for mt_file in "$mt_log".*; do
        mt_digits "${mt_file#"$mt_log".}"
        [ -n "$mt_number" ] || continue
        [ "${#mt_number}" -lt 9 ] || continue
        [ "$mt_number" -le "$mt_highest" ] || mt_highest=$mt_number
    done
}

# Logs are numbered by attempt. The numbers of an earlier run of this name stay in use after it was removed, and those
# of this run continue from them: mt_log_base + attempt. mt_old_number: the number that the existing log is renamed to.
mt_number_logs() {
    mt_count_logs
    mt_old_number=$((mt_highest + 1))
    if [ -n "$mt_s_log_base" ] && [ -n "$mt_s_attempt" ]; then
        mt_number=$((mt_s_log_base + mt_s_attempt))
        [ -e "$mt_log.$mt_number" ] || [ "$mt_number" -le "$mt_highest" ] || mt_old_number=$mt_number
    fi
    if [ "$mt_verdict" = own ] && [ -n "$mt_s_log_base" ]; then
        mt_log_base=$mt_s_log_base
        return 0
    fi
    mt_log_base=$mt_highest
    [ ! -e "$mt_log" ] || mt_log_base=$mt_old_number
}

# Claim .state exclusively: a hard link appears with its whole content or not at all. An old .state that was judged dead
# is moved away first, and put back if it has been replaced by now.
mt_claim() {
    mt_claimed=$mt_states/.$mt_name.state.$$
    mt_old=$mt_states/.$mt_name.old.$$
    mt_make_state
    mt_write "$mt_claimed" "$mt_text" || {
        rm -f "$mt_claimed" 2>/dev/null
        mt_problem="'$mt_base.state' cannot be written: $mt_why"
        mt_start_answer claim
    }
    if [ -n "$mt_judged" ]; then
        mv "$mt_base.state" "$mt_old" 2>/dev/null
        mt_read_text "$mt_old"
        if [ "$mt_text" != "$mt_judged" ]; then
            ln "$mt_old" "$mt_base.state" 2>/dev/null
            rm -f "$mt_old" "$mt_claimed"
            mt_lost_claim
        fi
    fi
    if ! ln "$mt_claimed" "$mt_base.state" 2>/dev/null; then
        # another start has claimed it, or the file system has no hard links
        if [ -e "$mt_base.state" ]; then
            rm -f "$mt_claimed"
            mt_lost_claim
        elif ! (set -C && : >"$mt_base.state") 2>/dev/null || ! mv "$mt_claimed" "$mt_base.state" 2>/dev/null; then
            rm -f "$mt_claimed"
            mt_find_why "$mt_claimed"
            [ -n "$mt_why" ] || mt_lost_claim
            mt_problem="'$mt_base.state' cannot be written: $mt_why"
            mt_start_answer claim
        fi
    fi
    # mt_make_files removes mt_claimed and mt_old
}

mt_lost_claim() {
    mt_problem="another start of '$mt_run' claims this node at this moment"
    mt_verdict=lives
    mt_read_state "$mt_base.state"
    if [ "$mt_s_run_id" = "$mt_run_id" ]; then
        mt_start_answer live
    fi
    mt_frame_foreign
    mt_start_answer foreign
}

mt_unclaim() { # STAGE: nothing was started; leave the name free
    rm -f "$mt_base.state" "$mt_claimed" "$mt_old"
    mt_start_answer "$1"
}

# Move away or remove the files of the previous attempt, and create the log.
mt_make_files() {
    if [ -e "$mt_log" ]; then
        mt_problem=$(mv "$mt_log" "$mt_log.$mt_old_number" 2>&1) || mt_unclaim claim
    fi
    rm -rf "$mt_claimed" "$mt_old" "$mt_base.exit" "$mt_base.pid" "$mt_base.seen" "$mt_base.stage" "$mt_base.fr"
    if [ -n "$mt_want_recorder" ]; then
        mt_problem=$(mkdir -m 700 "$mt_base.fr" 2>&1) || mt_unclaim claim
    fi
    mt_drop_rooms "$mt_base"
    set -C
    { printf '' >"$mt_log"; } 2>/dev/null
    mt_code=$?
    set +C
    [ "$mt_code" = 0 ] || mt_problem=$( (set -C && : >"$mt_log") 2>&1) || {
        mt_said=${mt_problem##*: }
        mt_find_why "$mt_logs/.$mt_name.try.$$"
        mt_problem="'$mt_log' cannot be created: ${mt_why:-$mt_said}"
        mt_unclaim claim
    }
    mt_make_rooms
    mt_problem=
}

# Reserve disk space for everything that will be written about this attempt. .stage gets a first line, so that appending
# to it needs no new block.
mt_make_rooms() {
    mt_write "$mt_base.stage" '
' && mt_set_aside "$mt_base" exit && mt_set_aside "$mt_base" state && mt_set_aside "$mt_base" pid &&
        mt_set_aside "$mt_base" seen && return 0
    mt_drop_rooms "$mt_base"
    rm -f "$mt_base.stage" "$mt_log"
    mt_problem="'$mt_states' cannot be written: $mt_why"
    mt_unclaim claim
}

# On rank 0: two runs that start at the same moment may have been given the same free port. Both have claimed their
# names by now, so at least one of them sees the other.
mt_check_claimed_port() {
    [ "$mt_rank" = 0 ] || return 0
    [ "$mt_master_port" != 0 ] || return 0
    mt_read_claims
    mt_find_port "$mt_claims" "$mt_master_port" || return 0
    mt_line=${mt_line#* }
    mt_problem="master port $mt_master_port is claimed by the run ${mt_line%% *}"
    mt_unclaim port
}

# A program that forks a session leader, which makes itself a child subreaper (prctl(2)) and becomes "$@": no orphan of
# the job below it escapes. It also resets every signal to its default disposition, which a shell cannot do. Its status
# is 0 when the child was forked; otherwise "$@" was not started. The last word of "$@" becomes 1 if orphans will become
# its children. Wrapper scripts (pyenv's shims) are not used, because they change the environment.
# shellcheck disable=SC2016
mt_reaper_perl='
    my $arch = $Config::Config{archname};
    my ($prctl, $setsid, $mask) = $arch =~ /^x86_64/ && $arch !~ /x32/ ? (157, 112, 14)
                                : $arch =~ /^(aarch64|riscv64|loongarch64)/ ? (167, 157, 135)
                                : $arch =~ /^(ppc64|powerpc64)/ ? (171, 66, 174)
                                : $arch =~ /^(s390x|i[3-6]86|arm)/ ? (172, 66, 175) : ();
    require POSIX if !$prctl;
    my $pid = fork;
    exit(defined $pid ? 0 : 1) if !defined $pid || $pid;
    $SIG{$_} = "DEFAULT" for grep { !/^(__|KILL|STOP|NUM)/ } keys %SIG;
    if ($prctl) {
        my $none = "\0" x 8;
        syscall($setsid);
        $ARGV[-1] = 1 if syscall($prctl, 36, 1, 0, 0, 0) == 0;
        syscall($mask, 2, $none, 0, 8);
    } else {
        POSIX::setsid();
        POSIX::sigprocmask(POSIX::SIG_SETMASK(), POSIX::SigSet->new);
    }
    shift @ARGV;
    exec { $ARGV[0] } @ARGV;
    exit 127;
'
mt_reaper_python='
import ctypes, os, signal, sys
if os.fork(): os._exit(0)
os.setsid()
try: sys.argv[-1] = "1" if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0 else ""
except Exception: pass
for number in set(range(1, 32)) - {9, 19}: signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
if sys.argv[1] == "unset": os.environ.pop("LC_CTYPE", None)
os.execv(sys.argv[2], sys.argv[2:])
'

mt_real_program() { # NAME -> mt_path: where it is, unless that is a script
    mt_find_tool "$1" || return 1
    for mt_file in "$mt_path" "/usr/bin/$1" "/usr/local/bin/$1"; do
        mt_line=
        { IFS= read -r mt_line <"$mt_file"; } 2>/dev/null
        case $mt_line in
        '#!'*) ;;
        *)
            mt_path=$mt_file
            [ ! -x "$mt_file" ] || return 0
            ;;
        esac
    done
    return 1
}

mt_launch_reaped() {
    if mt_real_program perl && mt_with_env "$mt_path" -mConfig -e "$mt_reaper_perl" -- - "$@" ''; then
        return
    elif mt_real_program python3 && mt_with_env "$mt_path" -I -S -c "$mt_reaper_python" "${LC_CTYPE-unset}" "$@" ''; then
        return
    fi
    mt_with_env "$mt_setsid" "$mt_setsid" "$@" ''
}

# The keeper's text and the job's text, which contains the environment, go through pipes: not through a file or a
# command line. Without a reaper, the second setsid is a session leader already, so it forks: the keeper is not a child
# that a shell started with "&", which would leave INT and QUIT ignored. This works with both util-linux and busybox.
mt_launch_keeper() {
    # one function, so that nothing runs before all of it has arrived
    printf '%s\n' 'mt_all() {' 'unset IFS' "$mt_shared_text" "$mt_keeper_text" 'mt_keep "$@"' '}' 'mt_all "$@"' | {
        # this tells the keeper from processes of a run in which this one was started
        export MTLAUNCH_KEEPS="$mt_run_id.$mt_attempt.$mt_rank"
        printf '%s.' "$mt_job" | mt_launch_reaped /bin/sh /proc/self/fd/9 "$mt_base" "$mt_log" "$mt_run_id" \
            "$mt_attempt" "$mt_shell_path" "$mt_workdir" "$mt_nonce" "$mt_setsid" "$mt_home" 9<&3 3<&- >/dev/null 2>&1
    } 3<&0
}

mt_verb_start() {
    trap : HUP PIPE
    mt_set_paths
    mt_problem=
    mt_name_user
    mt_set_workdir
    mt_make_place || mt_start_answer claim
    mt_read_text "$mt_base.state"
    mt_judged=$mt_text
    mt_judge_state
    case $mt_verdict in
    lives | unsure)
        mt_frame_foreign
        mt_start_answer foreign
        ;;
    esac
    mt_refuse_live
    mt_pick_shell
    if [ -z "$mt_shell_path" ]; then
        mt_problem="the shell '$mt_shell' was not found (PATH=$PATH)"
        mt_frame status 127
        mt_start_answer setup
    fi
    mt_stat "$$"
    mt_starter=$$ mt_starter_ticks=$mt_st_ticks
    mt_started=$(date +%s)
    mt_number_logs
    mt_claim
    mt_check_claimed_port
    mt_make_files
    mt_prepare_env
    mt_frame host "$mt_host"
    mt_frame log "$mt_log"
    mt_frame started "$mt_started"
    mt_launch_keeper
    mt_watch_start
}

# Refuse the start if an earlier attempt of this run, or another run of this name, is still alive here: it must be
# stopped first.
mt_refuse_live() {
    mt_root='' mt_keeper='' mt_memory=''
    if [ "$mt_verdict" = own ]; then
        mt_load_roots "$mt_base"
        [ -n "$mt_s_pid" ] || ! mt_alive "$mt_s_starter" "$mt_s_starter_ticks" || mt_start_answer live
    fi
    mt_scan_or_fail "$mt_run_id" "$mt_rank" ''
    [ -z "$mt_found" ] || mt_start_answer live
    if mt_find_namesake; then
        mt_frame_foreign
        mt_start_answer foreign
    fi
}

# The last step that the job's shell has reached: "cd", "setup N", "exec" -> mt_stage
mt_read_stage() {
    mt_stage=
    {
        while read -r mt_line; do
            mt_stage=$mt_line
        done <"$mt_base.stage"
    } 2>/dev/null
}

# Wait until the command was exec'd and, a second later, is alive or has ended with 0. The shell that ran the setup
# lines becomes the command; from then on its command line no longer contains the nonce.
mt_watch_start() {
    mt_read_clock
    mt_deadline=$((mt_clock + mt_start_timeout * 100))
    mt_proof='' mt_gone='' mt_wait=02
    while :; do
        mt_read_clock
        mt_read_stage
        if ! mt_still_ours; then
            mt_problem="'$mt_base.state' was removed or replaced"
            mt_start_answer command
        fi
        ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" || mt_answer_ended
        if [ -z "$mt_proof" ] && [ "$mt_stage" = exec ] && mt_alive "$mt_s_pid" "$mt_s_start_ticks"; then
            mt_line=
            read -r mt_line 2>/dev/null <"/proc/$mt_s_pid/cmdline"
            case $mt_st_state$mt_line in
            [ZXx]) mt_proof=$((mt_clock + 100)) ;; # its first thread is gone and others run: no shell is like that
            [!ZXx] | *"$mt_nonce"*) ;;
            *) mt_proof=$((mt_clock + 100)) ;;
            esac
        fi
        if [ -n "$mt_s_pid" ] && ! mt_alive "$mt_s_pid" "$mt_s_start_ticks"; then
            # give the keeper a moment to record the exit
            mt_gone=${mt_gone:-$((mt_clock + 500))}
            [ "$mt_clock" -lt "$mt_gone" ] || mt_alive "$mt_s_keeper" "$mt_s_keeper_ticks" || mt_answer_ended
        elif [ -n "$mt_proof" ] && [ "$mt_clock" -ge "$mt_proof" ]; then
            rm -f "$mt_base.stage"
            mt_frame pid "$mt_s_pid"
            mt_start_answer started
        fi
        if [ "$mt_clock" -ge "$mt_deadline" ]; then
            mt_frame pid "${mt_s_pid:-0}"
            mt_frame_stage
            mt_start_answer timeout
        fi
        mt_pause_for_start
    done
}

# The pauses grow, but the last one ends at the moment that proves the start.
mt_pause_for_start() {
    if [ -n "$mt_proof" ] && [ -z "$mt_gone" ]; then
        mt_number=$((mt_proof - mt_clock + 1))
        case $mt_number in
        ?) mt_pause "0.0$mt_number" ;;
        [123]?) mt_pause "0.$mt_number" ;;
        *) mt_pause 0.25 ;;
        esac
        return
    fi
    mt_pause "0.$mt_wait"
    case $mt_wait in
    02) mt_wait=03 ;;
    03) mt_wait=05 ;;
    05) mt_wait=1 ;;
    *) mt_wait=2 ;;
    esac
}

mt_frame_stage() {
    case $mt_stage in
    'setup '*) mt_frame setup_line "${mt_stage#setup }" ;;
    esac
    mt_frame output "$(tail -c 2000 "$mt_log" 2>/dev/null | tr -d '\000')"
}

mt_answer_ended() {
    mt_frame pid "${mt_s_pid:-0}"
    mt_frame status "${mt_x_status:--1}"
    mt_frame signal "$mt_x_signal"
    mt_read_stage
    [ -z "$mt_x_setup_line" ] || mt_stage="setup $mt_x_setup_line"
    if [ "$mt_x_status" = 0 ]; then
        mt_frame ended 1
        mt_start_answer started
    fi
    mt_frame_stage
    case $mt_stage in
    'setup '*) mt_start_answer setup ;;
    exec | '')
        case $mt_proof$mt_x_status in
        126 | 127) mt_start_answer exec ;;
        *) mt_start_answer command ;;
        esac
        ;;
    *) mt_start_answer command ;;
    esac
}
