# shellcheck shell=sh disable=SC2154,SC2034
# The interface that leads to the master, from ip or /proc/net. Fact: interface, empty when none was found.

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

mt_check_route() {
    mt_frame interface "$(mt_find_interface)"
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
# on every machine this runs on), and plain in if_inet6 and ipv6_route.
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
