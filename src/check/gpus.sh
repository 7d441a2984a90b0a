# shellcheck shell=sh disable=SC2154,SC2034
# Counts the GPUs here with nvidia-smi. Facts: present, visible (within CUDA_VISIBLE_DEVICES); problem: why they
# cannot be counted.

# The path of nvidia-smi in the job's environment after the setup lines, else in that of the login -> mt_smi
mt_find_smi() {
    mt_smi=
    [ ! -f "$mt_tmp/found.smi" ] || mt_smi=$(cat "$mt_tmp/found.smi")
    case $mt_smi in
    /*) ;;
    *) mt_smi=$(command -v nvidia-smi) || mt_smi= ;;
    esac
}

# The device file of a GPU of this node, or of this container -> mt_device, empty if there is none
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

# Runs nvidia-smi with the PATH and the library path of the job. Arguments: those of mt_run_limited without the
# command.
mt_run_smi() {
    mt_limit=$1 mt_out=$2
    shift 2
    set -- "$mt_smi" "$@"
    [ ! -f "$mt_tmp/found.libraries" ] || set -- LD_LIBRARY_PATH="$(cat "$mt_tmp/found.libraries")" "$@"
    [ ! -f "$mt_tmp/found.path" ] || set -- PATH="$(cat "$mt_tmp/found.path")" "$@"
    mt_run_limited "$mt_limit" "$mt_out" "$mt_setsid" env "$@"
}

# The output of nvidia-smi on one line, for messages.
mt_smi_words() { head -c 400 "$mt_tmp/gpus" | tr -d '\000' | tr -s '\n\r\t ' ' ' | sed 's/^ //;s/ $//'; }

# The number of GPUs here -> mt_gpus; mt_problem: why it is not known. An incomplete list does not count.
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
    *) mt_problem="nvidia-smi printed an incomplete list of GPUs: $(mt_smi_words)" ;;
    esac
}

# How many of ALL GPUs CUDA_VISIBLE_DEVICES leaves visible. As in CUDA, entries count up to the first invalid one.
mt_count_visible() { # ALL
    printf '%s' "$mt_visible" | tr ',' '\n' | tr -d ' ' | awk -v all="$1" '
        /^[0-9]+$/ { if ($0 + 0 >= all) exit; if (!($0 in seen)) n++; seen[$0] = 1; next }
        /^(GPU|MIG)-/ { n++; next }
        { exit }
        END { print n + 0 }'
}

# CUDA_VISIBLE_DEVICES of the job: as it is after the setup lines, or as the spec or the login sets it -> mt_visible
mt_find_visible() {
    if [ -f "$mt_tmp/found.visible" ]; then
        mt_visible_set=1 mt_visible=$(cat "$mt_tmp/found.visible")
    elif [ -z "$mt_visible_set" ] && [ -n "${CUDA_VISIBLE_DEVICES+x}" ]; then
        mt_visible_set=1 mt_visible=$CUDA_VISIBLE_DEVICES
    fi
}

mt_check_gpus() {
    mt_find_visible
    mt_list_gpus
    mt_frame present "$mt_gpus"
    if [ -z "$mt_visible_set" ]; then
        [ -z "$mt_problem" ] || mt_frame problem "$mt_problem"
        mt_frame visible "$mt_gpus"
        return 0
    fi
    # a list without numbers, an empty one too, needs no count
    [ -z "$mt_problem" ] || [ "$(mt_count_visible 0)" = "$(mt_count_visible 65536)" ] || mt_frame problem "$mt_problem"
    mt_frame visible "$(mt_count_visible "$mt_gpus")"
}
