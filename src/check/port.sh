# shellcheck shell=sh disable=SC2154,SC2034
# The master port, from /proc/net and the records of other runs. Facts: number (0: none is free); taken=1, pid, command.

# Ports of the TCP sockets that listen here -> mt_ports: lines "port inode".
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

mt_port_holder() { # INODE -> mt_holder: pid, or ""
    # shellcheck disable=SC2012 # the numbers are wanted, names are not
    mt_holder=$(ls -l /proc/[0-9]*/fd 2>/dev/null | awk -v want="socket:[$1]" '
        /^\/proc\// { pid = $0; sub(/^\/proc\//, "", pid); sub(/\/.*/, "", pid); next }
        $NF == want { print pid; exit }')
}

mt_check_port() {
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
        mt_frame number "$mt_number"
        return 0
    fi
    mt_frame number "$mt_master_port"
    mt_find_port "$mt_ports" "$mt_master_port" || mt_find_port "$mt_claims" "$mt_master_port" || return 0
    mt_frame taken 1
    # shellcheck disable=SC2086
    set -- $mt_line
    case ${3:-listen} in
    listen)
        mt_port_holder "$2"
        [ -n "$mt_holder" ] || return 0
        mt_frame pid "$mt_holder"
        mt_frame command "$( (tr '\0' ' ' <"/proc/$mt_holder/cmdline" | head -c 400) 2>/dev/null)"
        ;;
    *)
        mt_frame pid "$3"
        mt_frame command "run $2"
        ;;
    esac
}
