# shellcheck shell=sh disable=SC2154
# Facts: address, a list: the addresses of the master's name here; own: the address of this host's own name, if known;
# missing, a list: names of other nodes that are not found, or are a loopback address.

mt_addresses_of() { # NAME
    case $1 in
    *:* | [0-9]*.[0-9]*.[0-9]*.*[0-9])
        printf '%s\n' "${1%%\%*}"
        return 0
        ;;
    esac
    mt_text=$(getent ahosts "$1" 2>/dev/null | awk '{ print $1 }' | awk '!seen[$1]++')
    [ -n "$mt_text" ] || mt_text=$(awk -v name="$1" '
        { sub(/#.*/, ""); for (i = 2; i <= NF; i++) if ($i == name) { print $1; exit } }' /etc/hosts 2>/dev/null)
    [ -z "$mt_text" ] || printf '%s\n' "$mt_text"
}

# Looks up all names in one call; names that it does not find are looked up one by one.
mt_check_other_names() {
    # shellcheck disable=SC2086 # names hold no blanks
    mt_text=$(getent hosts $mt_other_addrs 2>/dev/null | awk '
        /^127[.]|^::1[ \t]/ { next }
        { for (i = 2; i <= NF; i++) { print " " $i " "; if (sub(/[.].*/, "", $i)) print " " $i " " } }')
    for mt_name in $mt_other_addrs; do
        case $mt_name in
        "$mt_host" | 127.* | ::1 | *:* | [0-9]*.[0-9]*.[0-9]*.*[0-9]) continue ;;
        esac
        case $mt_text in
        *" $mt_name "*) continue ;;
        esac
        case $(mt_addresses_of "$mt_name" | head -n 1) in
        '' | 127.* | ::1) mt_frame missing "$mt_name" ;;
        esac
    done
}

mt_check_names() {
    for mt_value in $(mt_addresses_of "$mt_master_addr" | head -n 16); do
        mt_frame address "$mt_value"
    done
    mt_value=$(mt_addresses_of "$mt_host" | head -n 1)
    [ -z "$mt_value" ] || mt_frame own "$mt_value"
    mt_check_other_names
}
