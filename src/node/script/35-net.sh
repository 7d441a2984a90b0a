# shellcheck shell=sh disable=SC2154,SC2034
# The master port, and the interface that leads to the master, from /proc/net (and ip where there is one).

# Ports that are taken here -> mt_ports: lines "port inode" of listening TCP sockets (inode 0: claimed by the
# .state of another live run here, whose job may not listen yet).
mt_read_ports() {
    mt_ports=$(exec 2>&1 && awk '
        function hex(text,    i, n) {
            for (i = 1; i <= length(text); i++)
                n = n * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
            return n
        }
        function read_file(file,    n, part) {
            while ((getline < file) > 0) if ($4 == "0A") { n = split($2, part, ":"); print hex(part[n]), $10 }
        }
        BEGIN { read_file("/proc/net/tcp"); read_file("/proc/net/tcp6"); print "end ports" }')
    mt_code=$?
    case $mt_ports in
    *"end ports") return 0 ;;
    esac
    mt_set_unproven awk "$mt_code" "$mt_ports"
    mt_fail_scan
}

# mt_claims: lines "port run_id pid" of other runs that live here in this artifacts folder.
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

mt_port_holder() { # INODE -> mt_holder: pid, or ""
    # shellcheck disable=SC2012 # the numbers are wanted, names are not
    mt_holder=$(ls -l /proc/[0-9]*/fd 2>/dev/null | awk -v want="socket:[$1]" '
        /^\/proc\// { pid = $0; sub(/^\/proc\//, "", pid); sub(/\/.*/, "", pid); next }
        $NF == want { print pid; exit }')
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

mt_probe_port() {
    mt_read_ports
    mt_read_claims
    if [ "$mt_master_port" = 0 ]; then
        mt_number=29500
        while [ "$mt_number" -le 29999 ]; do
            case "
$mt_ports
$mt_claims" in
            *"
$mt_number "*) mt_number=$((mt_number + 1)) ;;
            *) break ;;
            esac
        done
        [ "$mt_number" -le 29999 ] || mt_number=0
        mt_frame port "$mt_number"
        return 0
    fi
    mt_frame port "$mt_master_port"
    mt_find_port "$mt_ports" "$mt_master_port" || mt_find_port "$mt_claims" "$mt_master_port" || return 0
    mt_frame port_taken 1
    # shellcheck disable=SC2086
    set -- $mt_line
    case ${3:-listen} in
    listen)
        mt_port_holder "$2"
        [ -n "$mt_holder" ] || return 0
        mt_frame port_pid "$mt_holder"
        mt_frame port_command "$( (tr '\0' ' ' <"/proc/$mt_holder/cmdline" | head -c 400) 2>/dev/null)"
        ;;
    *)
        mt_frame port_pid "$3"
        mt_frame port_command "run $2"
        ;;
    esac
}

# mt_master_addr as a numeric address -> mt_address, or "".
mt_resolve() {
    case $mt_master_addr in
    *:* | [0-9]*.[0-9]*.[0-9]*.*[0-9]) mt_address=${mt_master_addr%%\%*} ;;
    *)
        mt_address=$(getent ahosts "$mt_master_addr" 2>/dev/null | awk '{ print $1; exit }')
        [ -n "$mt_address" ] || mt_address=$(awk -v name="$mt_master_addr" '
            { sub(/#.*/, ""); for (i = 2; i <= NF; i++) if ($i == name) { print $1; exit } }' /etc/hosts 2>/dev/null)
        ;;
    esac
}

# Print the interface that holds (on the master) or leads to the master's address; nothing when not found.
mt_find_interface() {
    mt_resolve
    [ -n "$mt_address" ] || return 0
    case $mt_address in
    127.* | ::1)
        echo lo
        return 0
        ;;
    esac
    (
        PATH=$PATH:/usr/sbin:/sbin
        if [ -n "$mt_is_master" ]; then
            ip -o addr show 2>/dev/null | awk -v want="$mt_address" '
                { split($4, part, "/"); if (part[1] == want) { sub(/@.*/, "", $2); print $2; exit } }'
        else
            ip route get "$mt_address" 2>/dev/null | awk '
                { for (i = 1; i < NF; i++) if ($i == "dev") { print $(i + 1); exit } }'
        fi
    ) | {
        read -r mt_line
        [ -n "$mt_line" ] || mt_line=$(mt_interface_of_proc)
        [ -z "$mt_line" ] || printf '%s\n' "$mt_line"
    }
}

# The same from /proc/net: the longest prefix among the routes; on the master that is the subnet of the interface
# that holds the address. Addresses in /proc/net/route are hexadecimal in this machine's byte order (little-endian
# on every machine this runs on), in if_inet6 and ipv6_route plain.
mt_interface_of_proc() {
    case $mt_address in
    *:*)
        awk -v address="$mt_address" -v master="$mt_is_master" '
            function spread(text,    half, n, i, left, right, part, out, fill) {
                n = split(text, half, "::")
                left = split(half[1], part, ":")
                for (i = 1; i <= left; i++) out = out substr("0000" part[i], length(part[i]) + 1)
                if (n > 1) {
                    right = split(half[2], part, ":")
                    for (i = left + right; i < 8; i++) fill = fill "0000"
                    out = out fill
                    for (i = 1; i <= right; i++) out = out substr("0000" part[i], length(part[i]) + 1)
                }
                return tolower(out)
            }
            function hex(text,    i, n) {
                for (i = 1; i <= length(text); i++)
                    n = n * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
                return n
            }
            BEGIN { want = spread(address); best = -1 }
            FILENAME ~ /if_inet6/ { if ($1 == want) held = $6; next }
            {
                bits = hex($2)
                whole = int(bits / 4)
                if (bits <= best || $10 == "lo") next
                if (substr($1, 1, whole) != substr(want, 1, whole)) next
                rest = bits % 4
                if (rest) {
                    cut = 2 ^ (4 - rest)
                    if (int(hex(substr($1, whole + 1, 1)) / cut) != int(hex(substr(want, whole + 1, 1)) / cut)) next
                }
                best = bits
                found = $10
            }
            END { if (master && held != "") print held; else if (best > 0 || !master) print found }
        ' /proc/net/if_inet6 /proc/net/ipv6_route 2>/dev/null
        ;;
    *)
        awk -v address="$mt_address" '
            function hex(text,    i, n) {
                for (i = 1; i <= length(text); i++)
                    n = n * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
                return n
            }
            BEGIN { split(address, want, "."); best = -1 }
            NR > 1 {
                bits = 0
                for (i = 1; i <= 4; i++) {
                    mask = hex(substr($8, 9 - 2 * i, 2))
                    net = hex(substr($2, 9 - 2 * i, 2))
                    step = 256 - mask
                    if (int(want[i] / step) != int(net / step)) next
                    for (m = mask; m > 0; m = (m * 2) % 256) bits++
                }
                if (bits > best) { best = bits; found = $1 }
            }
            END { if (found != "") print found }
        ' /proc/net/route 2>/dev/null
        ;;
    esac
}
