# shellcheck shell=sh disable=SC2154,SC2034,SC2012
# Facts: gpu="INDEX|USED|TOTAL|ERRORS|DRIVER|NAME" (MiB), a list; process="pid PID of USER: …", a list; problem;
# no_smi=1.

mt_ask_smi() { # ARG… -> its output in mt_tmp/smi; fails with mt_problem
    mt_smi=
    [ ! -f "$mt_tmp/found.smi" ] || mt_smi=$(cat "$mt_tmp/found.smi")
    case $mt_smi in
    /*) ;;
    *) mt_smi=$(command -v nvidia-smi) || mt_smi= ;;
    esac
    mt_problem=
    [ -n "$mt_smi" ] || return 1
    mt_value=${LD_LIBRARY_PATH-}
    [ ! -f "$mt_tmp/found.libraries" ] || mt_value=$(cat "$mt_tmp/found.libraries")
    LD_LIBRARY_PATH=$mt_value "$mt_smi" "$@" >"$mt_tmp/smi" 2>&1 && return 0
    mt_problem=$(head -c 300 "$mt_tmp/smi" | tr -s '\n\r\t ' ' ' | sed 's, $,,')
    mt_problem=${mt_problem:-it ended without a word}
    return 1
}

mt_check_memory() {
    if ! mt_ask_smi --query-gpu=index,memory.used,memory.total,ecc.errors.uncorrected.volatile.total,driver_version,name \
        --format=csv,noheader,nounits; then
        if [ -n "$mt_problem" ]; then
            mt_frame problem "$mt_problem"
        elif [ -z "$mt_smi" ]; then
            mt_frame no_smi 1
        fi
        return 0
    fi
    cp "$mt_tmp/smi" "$mt_tmp/smi.gpus"
    while IFS= read -r mt_line; do
        case $mt_line in
        [0-9]*,*,*,*,*,*) mt_frame gpu "$(printf '%s' "$mt_line" | sed 's/ *, */|/g')" ;;
        [0-9]*,*) mt_frame gpu "${mt_line%%,*}|||||" ;; # a tool that does not know all queried fields
        GPU\ [0-9]*:*) mt_line=${mt_line#GPU }; mt_frame gpu "${mt_line%%:*}|||||" ;;
        *[!\ ]*) mt_frame problem "$mt_line" ;;
        esac
    done <"$mt_tmp/smi.gpus"
    mt_ask_smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits || return 0
    head -n 16 "$mt_tmp/smi" | while IFS=', ' read -r mt_p mt_size mt_rest; do
        mt_digits "$mt_p"
        [ -n "$mt_number" ] || continue
        mt_s_user=
        mt_find_user "$mt_p"
        mt_frame process "pid $mt_p of ${mt_s_user:-uid ${mt_s_uid:-?}}: $mt_size MiB, $(tr '\0' ' ' 2>/dev/null <"/proc/$mt_p/cmdline" | head -c 120)"
    done
}
