# shellcheck shell=sh disable=SC2154
# Facts: python, torch, cuda, nccl and others, a version each; nogpu: why torch sees no GPU although there are some;
# error: why torch cannot be imported. The job's shell has started the interpreter and stored its process id.
mt_late_versions() { # the interpreter is not a child of the lane that waits for it
    [ -s "$mt_tmp/found.versions_pid" ] || return 0
    read -r mt_p <"$mt_tmp/found.versions_pid"
    mt_kill_tree "$mt_p"
}

mt_check_versions() {
    [ -e "$mt_tmp/found.setup" ] && [ -s "$mt_tmp/found.versions_pid" ] || return 0
    read -r mt_p <"$mt_tmp/found.versions_pid"
    while kill -0 "$mt_p" 2>/dev/null && ! grep -q '^end ' "$mt_tmp/found.versions" 2>/dev/null; do
        mt_pause 0.1
    done
    ! grep -q '^end ' "$mt_tmp/found.versions" 2>/dev/null || kill -KILL "$mt_p" 2>/dev/null # it ends slowly
    while read -r mt_key mt_value; do
        case $mt_key in
        python | torch | cuda | nccl | transformer_engine | megatron_core | deepspeed | accelerate | transformers | ms_swift | \
            flash_attn | nogpu | error) mt_frame "$mt_key" "$mt_value" ;;
        esac
    done <"$mt_tmp/found.versions"
}
