# shellcheck shell=sh disable=SC2154,SC2034
# Finds the master ports that other live runs claim on this node; their jobs may not listen yet.

# -> mt_claims: lines "port run_id pid" of other live runs of this node in this artifacts folder
mt_read_claims() {
    mt_claims=
    for mt_file in "$mt_states"/*_node0.state; do
        [ "$mt_file" != "$mt_base.state" ] || continue
        mt_read_state "$mt_file" || continue
        [ -n "$mt_s_master_port" ] || continue
        mt_is_here || continue
        mt_alive "$mt_s_pid" "$mt_s_start_ticks" || mt_alive "$mt_s_starter" "$mt_s_starter_ticks" || continue
        mt_claims="$mt_claims$mt_s_master_port $mt_s_run_id ${mt_s_pid:-0}
"
    done
}

mt_find_port() { # LINES PORT -> mt_line, that of the port; fails when there is none
    case "
$1" in
    *"
$2 "*) ;;
    *) return 1 ;;
    esac
    mt_line="
$1"
    mt_line=${mt_line#*"
$2 "}
    mt_line="$2 ${mt_line%%"
"*}"
}
