# shellcheck shell=sh disable=SC2154,SC2034
# Enters a container. This part runs on the node itself (with 10-frame.sh). It checks that the container exists, is
# running and is still the one of the run, and passes the script on to `ENGINE exec -i`. If the check fails, it answers
# instead of the script.
#
# Values: mt_nonce mt_verb mt_run_id mt_attempt, mt_engine mt_sudo mt_container mt_user, and mt_want_id mt_want_began:
# the container's id and start time when the run started; empty: any will do.

mt_limit=

mt_call_engine() { # ARG…, within mt_limit seconds where that is set
    set -- "$mt_engine" "$@"
    if [ -n "$mt_sudo" ]; then
        set -- sudo -n "$@" # what root runs could not be ended by timeout
    elif [ -n "$mt_limit" ] && command -v timeout >/dev/null; then
        set -- timeout "$mt_limit" "$@"
    fi
    "$@"
}

# Reduce mt_said to one line without noise.
mt_trim_said() {
    mt_said=$(printf '%s\n' "$mt_said" | sed -e '/^WARNING/d' -e '/^\[\]$/d' -e '/^[[:space:]]*$/d' -e '/^Run .*--help/d' \
        -e '/^See .*--help/d' | head -c 500 | tr '\n' ' ')
    mt_said=${mt_said% }
}

# Classify a failure of the engine by its status mt_code and its output mt_said -> mt_kind
mt_judge_engine() {
    mt_trim_said
    case $mt_said in
    *"password is required"* | *"terminal is required"* | *"no askpass"*) mt_kind=sudo-needs-password ;;
    *"o such object"* | *"o such container"* | *"o container with name"* | *"map has no entry for key"* | *"can't evaluate field"*)
        mt_kind=container-missing
        ;;
    *"is not running"* | *"is paused"* | *"can only create exec sessions on running"*) mt_kind=container-stopped ;;
    *"chdir to cwd"*) mt_kind=workdir-missing ;;
    *"OCI runtime"* | *"unable to find user"*) mt_kind=container-failed ;;
    *"ermission denied"* | *"not in the sudoers"* | *"not allowed to"*) mt_kind=docker-permission ;;
    *"annot connect to"* | *"ailed to connect"* | *"rror during connect"*) mt_kind=engine-missing ;;
    *)
        mt_kind=container-failed
        if [ "$mt_code" = 124 ]; then
            mt_kind=engine-missing
            mt_said="'$mt_engine' did not answer within $mt_limit seconds"
        fi
        ;;
    esac
}

mt_check_engine() {
    if [ -n "$mt_sudo" ]; then
        command -v sudo >/dev/null || mt_fail engine-missing "'sudo' was not found (PATH=$PATH)"
    else
        command -v "$mt_engine" >/dev/null || mt_fail engine-missing "'$mt_engine' was not found (PATH=$PATH)"
    fi
}

# NAME -> mt_id, mt_is (its status: running, exited, …), mt_began. Fails with mt_kind and mt_said.
mt_inspect() {
    mt_limit=20
    mt_said=$(mt_call_engine inspect -f 'mt:{{.Id}}|{{.State.Status}}|{{.State.StartedAt}}' "$1" 2>&1 </dev/null)
    mt_code=$?
    mt_line=$(printf '%s\n' "$mt_said" | sed -n 's/^mt://p')
    case $mt_code$mt_line in
    0?*"|"?*"|"?*) ;;
    *)
        mt_judge_engine
        mt_limit=
        return 1
        ;;
    esac
    mt_limit=
    mt_id=${mt_line%%"|"*}
    mt_began=${mt_line##*"|"}
    mt_is=${mt_line#*"|"}
    mt_is=${mt_is%"|"*}
}

mt_fail_container() {
    case $mt_kind in
    container-missing)
        mt_limit=10
        mt_names=$(mt_call_engine ps --format '{{.Names}}' 2>/dev/null </dev/null | head -n 8 | tr '\n' ' ')
        mt_said="no container '$mt_container' there${mt_names:+ (running: ${mt_names% })}"
        ;;
    esac
    mt_fail "$mt_kind" "$mt_said"
}

# -> mt_target, the container to enter; mt_lost and mt_why when the container of the run is gone.
mt_find_container() {
    mt_lost='' mt_why='' mt_target=$mt_container
    if mt_inspect "$mt_container"; then
        [ -n "$mt_want_id" ] || return 0
        if [ "$mt_id" != "$mt_want_id" ]; then
            mt_other=$mt_id mt_other_is=$mt_is
            if mt_inspect "$mt_want_id"; then
                mt_target=$mt_want_id # renamed
            else
                [ "$mt_kind" = container-missing ] || mt_fail_container
                mt_id=$mt_other mt_is=$mt_other_is
                mt_lost=container-replaced
                mt_why="container '$mt_container' was replaced by another since the run started"
                return 0
            fi
        fi
    else
        [ -n "$mt_want_id" ] || mt_fail_container
        [ "$mt_kind" = container-missing ] || mt_fail_container
        if ! mt_inspect "$mt_want_id"; then
            [ "$mt_kind" = container-missing ] || mt_fail_container
            mt_is=removed
            mt_lost=container-missing
            mt_why="container '$mt_container' was removed"
            return 0
        fi
        mt_target=$mt_want_id
    fi
    case $mt_is in
    running | paused)
        [ "$mt_began" != "$mt_want_began" ] || return 0
        mt_lost=container-replaced
        mt_why="container '$mt_container' was restarted since the run started"
        ;;
    *)
        mt_lost=container-stopped
        mt_why="container '$mt_container' was stopped ($mt_is)"
        ;;
    esac
}

# Answer in place of the script: all processes of the run ended with its container.
mt_answer_gone() {
    mt_frame container_lost "$mt_lost: $mt_why"
    mt_frame host "$(uname -n)"
    case $mt_verb in
    observe | watch)
        mt_frame life gone
        mt_frame found_run_id "$mt_run_id"
        mt_frame found_attempt "$mt_attempt"
        mt_frame leftover_total 0
        mt_frame scan ok
        ;;
    stop)
        mt_frame was_alive 0
        mt_frame signalled 0
        mt_frame killed 0
        mt_frame survivor_total 0
        mt_frame scan ok
        ;;
    esac
    mt_frame now "$(date +%s)"
    IFS=' ' read -r mt_up mt_rest </proc/uptime
    mt_frame uptime "$mt_up"
    mt_end
}

mt_enter() { # WORD…: what runs inside, with what is left of standard input
    set -- "$mt_target" "$@"
    [ -z "$mt_user" ] || set -- -u "$mt_user" "$@"
    if [ "$mt_verb" = exec ]; then
        [ -z "$mt_sudo" ] || exec sudo -n "$mt_engine" exec -i "$@"
        exec "$mt_engine" exec -i "$@"
    fi
    mt_frame container_id "$mt_id"
    mt_frame container_started "$mt_began"
    # standard output passes through; the client's own messages are captured
    { mt_said=$(mt_call_engine exec -i "$@" 2>&1 >&4 4>&-); } 4>&1
    mt_code=$?
    case $mt_verb.$mt_code in
    *.0 | tail.[0-9] | tail.[0-9][0-9] | tail.1[013-9][0-9] | tail.2*) exit "$mt_code" ;;
    esac
    mt_judge_engine
    [ -n "$mt_said" ] || mt_said="'$mt_engine exec' ended with status $mt_code"
    mt_fail "$mt_kind" "$mt_said"
}

# A shell that cannot fork exits with status 2 (dash, busybox) or 254 (bash).
# shellcheck disable=SC2317 # called by the trap
mt_on_entry_exit() {
    case $? in
    2 | 254) printf '\n@@%s error=scan\n\n@@%s detail=cannot fork\n\n@@%s end=ok\n' "$mt_nonce" "$mt_nonce" "$mt_nonce" ;;
    esac
}

mt_entry() { # WORD…: what runs inside
    unset IFS
    export LC_ALL=C
    trap mt_on_entry_exit EXIT
    mt_check_engine
    mt_find_container
    if [ -n "$mt_lost" ]; then
        case $mt_verb in
        observe | watch | stop) mt_answer_gone ;;
        tail | remove) ;; # files may be read, and looked through, in what stands there now
        *) mt_fail "$mt_lost" "$mt_why" ;;
        esac
    fi
    case $mt_is in
    running) mt_enter "$@" ;;
    removed) mt_fail container-missing "$mt_why" ;;
    *) mt_fail container-stopped "container '$mt_container' is not running there: it is $mt_is" ;;
    esac
}
