# shellcheck shell=sh disable=SC2154
# Fact: unmounted=WHAT, if the files of the artifacts folder are lost with the container.
mt_check_volume() {
    [ -e "$mt_tmp/found.writable" ] || return 0
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
    [ -z "$mt_line" ] || mt_frame unmounted "$mt_line"
}
