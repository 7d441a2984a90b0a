# shellcheck shell=sh disable=SC2154,SC2034
# The probe before a start: facts, and whatever would keep the job from running here. It starts nothing that
# stays and leaves no file but the folders a start needs.

# Where nvidia-smi is: in the job's own environment, after the setup lines; else in the login's -> mt_smi
mt_find_smi() {
    mt_smi=
    [ ! -f "$mt_tmp/found.smi" ] || mt_smi=$(cat "$mt_tmp/found.smi")
    case $mt_smi in
    /*) ;;
    *) mt_smi=$(command -v nvidia-smi) || mt_smi= ;;
    esac
}

# A GPU of this node, or of this container -> mt_device, empty when there is none
mt_find_device() {
    mt_device=
    for mt_file in /dev/nvidia[0-9]*; do
        [ -e "$mt_file" ] || continue
        mt_device=$mt_file
        return 0
    done
    # a container sees the folder of the node's driver too
    [ -n "$mt_inside" ] || [ ! -d /proc/driver/nvidia ] || mt_device=/proc/driver/nvidia
}

# nvidia-smi with the paths that the job would have. Arguments as those of mt_run_limited, less the command.
mt_run_smi() {
    mt_limit=$1 mt_out=$2
    shift 2
    set -- "$mt_smi" "$@"
    [ ! -f "$mt_tmp/found.libraries" ] || set -- LD_LIBRARY_PATH="$(cat "$mt_tmp/found.libraries")" "$@"
    [ ! -f "$mt_tmp/found.path" ] || set -- PATH="$(cat "$mt_tmp/found.path")" "$@"
    mt_run_limited "$mt_limit" "$mt_out" "$mt_setsid" env "$@"
}

# What nvidia-smi said, on one line, for a person.
mt_smi_words() { head -c 400 "$mt_tmp/gpus" | tr -d '\000' | tr -s '\n\r\t ' ' ' | sed 's/^ //;s/ $//'; }

# All GPUs here -> mt_gpus; mt_problem: why that is not known. Half a list is no list.
mt_list_gpus() {
    mt_gpus=0 mt_problem=
    mt_find_device
    mt_find_smi
    if [ -z "$mt_smi" ]; then
        [ -z "$mt_device" ] || mt_problem="there is a GPU ($mt_device), but no nvidia-smi in PATH"
        return 0
    fi
    mt_run_smi 15 "$mt_tmp/gpus" -L
    if [ ! -f "$mt_tmp/gpus.code" ]; then
        mt_problem="nvidia-smi did not end within 15 s"
        return 0
    fi
    read -r mt_code <"$mt_tmp/gpus.code"
    if [ "$mt_code" != 0 ]; then
        mt_problem="nvidia-smi ended with status $mt_code: $(mt_smi_words)"
        return 0
    fi
    mt_gpus=$(tr -d '\000' <"$mt_tmp/gpus" | awk '
        /^GPU [0-9]+: / && $2 == n + 0 ":" { n++; next }
        n && /^[ \t]+[^ \t]/ { next }
        /^[ \t\r]*$/ { next }
        { bad = 1 }
        END { print bad ? 0 : n + 0 }')
    [ "$(tail -c 1 "$mt_tmp/gpus" | od -An -tx1 | tr -d ' ')" = 0a ] || mt_gpus=0
    if [ -z "$mt_gpus" ]; then
        mt_gpus=0 mt_problem='the list of nvidia-smi could not be read'
        return 0
    fi
    [ "$mt_gpus" = 0 ] || return 0
    case $mt_device$(mt_smi_words) in
    'No devices were found'*) ;;
    *) mt_problem="nvidia-smi printed no whole list of GPUs: $(mt_smi_words)" ;;
    esac
}

# Those of all that CUDA_VISIBLE_DEVICES leaves. CUDA's rule: entries count up to the first that names no device.
mt_count_visible() { # ALL
    printf '%s' "$mt_visible" | tr -s ', ' '\n' | awk -v all="$1" '
        $0 == "" { next }
        /^[0-9]+$/ { if ($0 + 0 >= all) exit; if (!($0 in seen)) n++; seen[$0] = 1; next }
        /^(GPU|MIG)-/ { n++; next }
        { exit }
        END { print n + 0 }'
}

mt_probe_gpus() {
    mt_list_gpus
    mt_frame gpus_present "$mt_gpus"
    [ -n "$mt_visible_set" ] || {
        [ -z "$mt_problem" ] || mt_frame gpus_problem "$mt_problem"
        return 0
    }
    # a list without numbers, an empty one too, needs no count
    [ -z "$mt_problem" ] || [ "$(mt_count_visible 0)" = "$(mt_count_visible 65536)" ] || mt_frame gpus_problem "$mt_problem"
    mt_gpus=$(mt_count_visible "$mt_gpus")
}

# The setup lines in a throw-away shell like the job's, then what a job would find there.
mt_probe_job() {
    mt_frame workdir "$mt_workdir"
    if [ ! -d "$mt_workdir" ]; then
        mt_frame workdir_missing 1
        return 0
    fi
    mt_pick_shell
    if [ -z "$mt_shell_path" ]; then
        mt_frame setup_failed 0
        mt_frame setup_status 127
        mt_frame setup_output "the shell '$mt_shell' was not found (PATH=$PATH)"
        return 0
    fi
    : >"$mt_tmp/stage"
    # the text holds values of the environment: a pipe, no file
    printf '%s' "$mt_job" | mt_run_limited "$mt_setup_timeout" "$mt_tmp/output" mt_with_env "$mt_setsid" \
        "$mt_shell_path" /proc/self/fd/8 "$mt_tmp/stage" "$mt_workdir" "$mt_tmp/found" "$mt_home" 8<&0
    if [ -n "$mt_cut" ]; then
        mt_unproven='cannot fork'
        mt_fail_scan
    fi
    mt_code=-1
    [ ! -f "$mt_tmp/output.code" ] || read -r mt_code <"$mt_tmp/output.code"
    mt_stage=$(tail -n 1 "$mt_tmp/stage")
    case $mt_stage in
    probed) ;;
    *)
        case $mt_stage in
        'setup '*) mt_frame setup_failed "${mt_stage#setup }" ;;
        *) mt_frame setup_failed 0 ;;
        esac
        [ "$mt_code" != 0 ] || mt_code=1
        mt_frame setup_status "$mt_code"
        mt_frame setup_output "$(tail -c 2000 "$mt_tmp/output" | tr -d '\000')"
        return 0
        ;;
    esac
    mt_frame path "$(cat "$mt_tmp/found.path")"
    [ -z "$mt_program" ] || [ -f "$mt_tmp/found.program" ] || mt_frame program_missing 1
    [ -z "$mt_wanted" ] || [ -s "$mt_tmp/found.command" ] || mt_frame program_missing 1
    if [ -n "$mt_interpreter" ]; then
        mt_where=$(cat "$mt_tmp/found.interpreter" 2>/dev/null)
        mt_frame interpreter "$mt_where"
        [ -n "$mt_where" ] || mt_frame interpreter_missing 1
        [ -z "$mt_module" ] || [ -f "$mt_tmp/found.module" ] || mt_frame module_missing 1
    fi
    mt_probe_faults
    if [ -f "$mt_tmp/found.visible" ]; then
        mt_visible_set=1
        mt_visible=$(cat "$mt_tmp/found.visible")
    fi
}

# In a container: files of the artifacts folder end with it unless they lie on a volume.
mt_probe_mount() {
    mt_line=$(mt_path=$(cd "$mt_artifacts" && pwd -P) awk '
        {
            point = $5
            gsub(/\\040/, " ", point)
            path = ENVIRON["mt_path"]
            if (point != "/" && path != point && index(path, point "/") != 1) next
            for (i = 7; i < NF && $i != "-"; i++) ;
            if (length(point) >= best) { best = length(point); type = $(i + 1); found = point }
        }
        END { if (found == "/") print "no mount"; else if (type ~ /^(tmpfs|ramfs)$/) print "a " type }
    ' /proc/self/mountinfo 2>/dev/null)
    [ -z "$mt_line" ] || mt_frame artifacts_unmounted "$mt_line"
}

# logind.conf(5): with KillUserProcesses all that a user left running ends with the last session, unless the user
# lingers. Later files win.
mt_probe_logout() {
    [ "$mt_uid" != 0 ] && [ ! -e "/var/lib/systemd/linger/$mt_user" ] || return 0
    mt_line=$(cat /usr/lib/systemd/logind.conf.d/*.conf /etc/systemd/logind.conf /run/systemd/logind.conf.d/*.conf \
        /etc/systemd/logind.conf.d/*.conf 2>/dev/null |
        sed -n 's/^[[:space:]]*KillUserProcesses[[:space:]]*=[[:space:]]*//p' | tail -n 1)
    case $mt_line in
    [Yy]* | [Tt]* | 1 | [Oo][Nn]) mt_frame logout_kills 1 ;;
    esac
}

# Earlier processes of this run, or a .state of another that stands in the way.
mt_probe_earlier() {
    mt_judge_state
    case $mt_verdict in
    lives | unsure)
        mt_frame_foreign
        return 0
        ;;
    none) mt_root='' mt_keeper='' mt_memory='' ;;
    own) mt_load_roots "$mt_base" ;;
    esac
    mt_scan_or_fail "$mt_run_id" '[0-9]+' ''
    mt_frame scan ok
    mt_frame_processes live "$mt_found"
    if mt_find_namesake; then
        mt_frame_foreign
    else
        mt_frame_others
    fi
}

# [TEMPLATE] -> mt_tmp, a folder in which files can be written; fails with mt_why.
mt_make_tmp() {
    mt_tmp=$(mktemp -d "$@" 2>&1) || {
        mt_why=${mt_tmp##*: } mt_tmp=
        return 1
    }
    mt_write "$mt_tmp/try" x && return 0
    rm -rf "$mt_tmp"
    mt_tmp=
    return 1
}

mt_verb_probe() {
    mt_set_paths
    mt_set_workdir
    mt_name_user
    for mt_key in home host user boot_id uid artifacts; do
        eval "mt_frame $mt_key \"\$mt_$mt_key\""
    done
    mt_prepare_env
    mt_cores=$(nproc 2>/dev/null) || mt_cores=$(grep -c '^processor' /proc/cpuinfo)
    mt_frame cores "$mt_cores"
    ! command -v python3 >/dev/null || mt_frame python 1
    ! command -v perl >/dev/null || mt_frame perl 1
    if mt_make_place; then
        mt_frame writable 1
        [ -z "$mt_inside" ] || mt_probe_mount
        mt_probe_earlier
    else
        mt_check_problem
        mt_frame artifacts_problem "$mt_problem"
    fi
    trap 'exit 1' HUP INT TERM
    mt_make_tmp || mt_make_tmp "$mt_states/.probe.XXXXXX" ||
        mt_fail place "no temporary file can be written in '${TMPDIR:-/tmp}': $mt_why"
    if [ -z "$mt_visible_set" ] && [ -n "${CUDA_VISIBLE_DEVICES+x}" ]; then
        mt_visible_set=1 mt_visible=$CUDA_VISIBLE_DEVICES
    fi
    [ -n "$mt_inside" ] || mt_probe_logout
    [ -z "$mt_want_job" ] || mt_probe_job
    mt_gpus=0
    [ -z "$mt_want_gpus" ] || mt_probe_gpus
    mt_frame gpus "$mt_gpus"
    [ -z "$mt_want_port" ] || mt_probe_port
    [ -z "$mt_master_addr" ] || mt_frame interface "$(mt_find_interface)"
    mt_end
}
