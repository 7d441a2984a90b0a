# shellcheck shell=sh disable=SC2154,SC2034
# Inspects, creates and removes a container. Runs on the node itself (with 10-frame.sh and 05-entry.sh).

# Live runs in the container, by the marks of their processes -> mt_runs. The list ends with "MTLAUNCH_RUN=."; without
# this line it is incomplete. An image without a shell has no runs.
mt_find_runs() { # ID
    # shellcheck disable=SC2016 # for the shell in there
    mt_said=$(mt_call_engine exec "$1" /bin/sh -c '{
        cat /proc/[0-9]*/environ 2>/dev/null
        case $? in 0 | 1) printf "\0MTLAUNCH_RUN=.\0" ;; esac
    } | tr "\0" "\n" | grep "^MTLAUNCH_RUN="' 2>&1 </dev/null)
    mt_code=$?
    mt_runs=
    case $mt_code:$mt_said in
    *"MTLAUNCH_RUN=.") ;;
    12[67]:*) return 0 ;;
    *) mt_fail container-failed "the runs in container '$mt_container' could not be listed: $mt_said" ;;
    esac
    for mt_line in $mt_said; do
        case $mt_line in
        MTLAUNCH_RUN=. | *[!A-Za-z0-9._=-]*) continue ;;
        MTLAUNCH_RUN=*) mt_line=${mt_line#MTLAUNCH_RUN=} ;;
        *) continue ;;
        esac
        case " $mt_runs" in
        *" $mt_line "*) ;;
        *) mt_runs="$mt_runs$mt_line " ;;
        esac
    done
    mt_runs=${mt_runs% }
}

mt_show_container() {
    mt_check_engine
    if mt_inspect "$mt_container"; then
        mt_frame id "$mt_id"
        mt_frame status "$mt_is"
        mt_frame began "$mt_began"
        mt_limit=20
        mt_frame inspect "$(mt_call_engine inspect "$mt_id" 2>/dev/null </dev/null)"
        [ "$mt_is" != running ] || mt_find_runs "$mt_id"
        mt_frame runs "${mt_runs:-}"
    else
        [ "$mt_kind" = container-missing ] || mt_fail_container
        mt_frame status missing
    fi
    if [ -n "$mt_image" ]; then
        mt_limit=20
        mt_frame image_id "$(mt_call_engine inspect -f '{{.Id}}' "$mt_image" 2>/dev/null </dev/null | sed -n 1p)"
    fi
    mt_end
}

mt_do() { # WHAT WORD…: an engine's command that must end with 0
    mt_what=$1
    shift
    mt_said=$(mt_call_engine "$@" 2>&1 </dev/null) && return 0
    mt_code=$?
    mt_judge_engine
    mt_fail "$mt_kind" "$mt_what: $mt_said"
}

# Remove the container, unless a live run is in it or another container has taken its name since it was inspected.
mt_take_away() { # ID
    mt_limit=20
    mt_inspect "$mt_container" || mt_fail_container
    [ "$mt_id" = "$1" ] || mt_fail container-replaced "another container took the name '$mt_container' at this moment"
    mt_runs=
    [ "$mt_is" != running ] || mt_find_runs "$1"
    [ -z "$mt_runs" ] || mt_fail run-live "a live run uses container '$mt_container': $mt_runs"
    mt_do "container '$mt_container' cannot be removed" rm -f "$1"
}

# Create the container. If it was created but did not start, it is removed, so that it does not keep the name. Its
# environment is passed through a pipe, so that it appears on no command line.
mt_make() {
    mt_said=$(printf '%s' "$mt_env" | mt_run_container 2>&1)
    mt_code=$?
    if [ "$mt_code" != 0 ]; then
        # the engine prints the id once the container is created
        mt_id=$(printf '%s\n' "$mt_said" | grep -xE '[0-9a-f]{64}' | head -n 1)
        [ -z "$mt_id" ] || mt_call_engine rm -f "$mt_id" >/dev/null 2>&1 </dev/null
        case $mt_said in
        *"Unable to find image"* | *"o such image"* | *"pull access denied"* | *"manifest unknown"*)
            mt_said=$(printf '%s\n' "$mt_said" | grep -v '^Unable to find image')
            mt_trim_said
            mt_fail image-missing "image '$mt_image' is not there: $mt_said"
            ;;
        esac
        mt_said=$(printf '%s\n' "$mt_said" | grep -vxF "${mt_id:--}")
        mt_judge_engine
        mt_fail "$mt_kind" "container '$mt_container' cannot be created: $mt_said"
    fi
    mt_inspect "$mt_container" || mt_fail_container
    if [ "$mt_is" != running ]; then
        mt_limit=20
        mt_said=$(mt_call_engine logs --tail 5 "$mt_id" 2>&1 </dev/null)
        mt_trim_said
        mt_call_engine rm -f "$mt_id" >/dev/null 2>&1 </dev/null
        mt_fail container-failed "container '$mt_container' ended at once: its command does not stay${mt_said:+ ($mt_said)}"
    fi
}

# mt_old: a container to remove first; mt_idle: a container that only has to be started; without it, one is created.
mt_up() {
    mt_check_engine
    [ -z "$mt_old" ] || mt_take_away "$mt_old"
    mt_limit=
    if [ -n "$mt_idle" ]; then
        mt_do "container '$mt_container' cannot be started" start "$mt_idle"
        mt_inspect "$mt_container" || mt_fail_container
    else
        mt_make
    fi
    mt_frame id "$mt_id"
    mt_frame status "$mt_is"
    mt_frame began "$mt_began"
    mt_end
}

mt_down() {
    mt_check_engine
    mt_take_away "$mt_old"
    mt_frame status missing
    mt_end
}
