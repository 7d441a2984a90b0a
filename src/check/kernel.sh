# shellcheck shell=sh disable=SC2154
# Facts: xid="SECONDS TEXT", oom="SECONDS TEXT": lists of the last GPU faults and out-of-memory kills in the kernel's
# log, each with its age; readable=1: the log could be read.
mt_check_kernel() {
    {
        dmesg 2>/dev/null || journalctl -k -b -q --no-pager -o short-monotonic -n 20000 2>/dev/null
    } | tr -d '\000' >"$mt_tmp/kernel"
    [ -s "$mt_tmp/kernel" ] || return 0
    mt_frame readable 1
    mt_read_clock
    awk -v now="$((mt_clock / 100))" '
        /NVRM: Xid/ { kind = "xid" }
        /Out of memory: Kill|emory cgroup out of memory: Kill/ { kind = "oom" }
        kind != "" {
            age = -1
            if (match($0, /\[ *[0-9]+\.[0-9]+\]/)) age = now - substr($0, RSTART + 1, RLENGTH - 2)
            sub(/^.*\[ *[0-9]+\.[0-9]+\] */, "")
            print kind, int(age < 0 ? 0 : age), substr($0, 1, 200)
            kind = ""
        }' "$mt_tmp/kernel" | tail -n 16 | while read -r mt_key mt_value; do
        mt_frame "$mt_key" "$mt_value"
    done
}
