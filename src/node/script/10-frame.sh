# shellcheck shell=sh disable=SC2154,SC2034
# Answers in framed lines: a newline, "@@NONCE key=value". A value with anything but plain characters in it is
# percent-encoded throughout, so no value can end a line or look like a frame.
# Every name in these files begins with mt_: the shell's variables must not meet the login's exported ones,
# which the job inherits. Nothing here is exported.

mt_encode() { # TEXT -> mt_coded
    case $1 in
    *[!A-Za-z0-9_./:@+,=\ -]*)
        mt_coded=$(printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g')
        ;;
    *) mt_coded=$1 ;;
    esac
}

# mt_prefix stands before each key. mt_frame_lost: a frame could not be written (the output is a file on a full disk).
mt_prefix='' mt_frame_lost=''
mt_frame() { # KEY VALUE
    mt_encode "$2"
    printf '\n@@%s %s=%s\n' "$mt_nonce" "$mt_prefix$1" "$mt_coded" || mt_frame_lost=1
}

mt_end() {
    mt_answered=1
    printf '\n@@%s end=ok\n' "$mt_nonce"
    exit 0
}

mt_fail() { # KIND DETAIL
    mt_prefix=
    mt_frame error "$1"
    mt_frame detail "$2"
    mt_end
}

# Hundredths of a second since boot -> mt_clock
mt_read_clock() {
    IFS=' ' read -r mt_clock mt_rest </proc/uptime
    mt_clock=${mt_clock%.*}${mt_clock#*.}
    while :; do
        case $mt_clock in
        0?*) mt_clock=${mt_clock#0} ;;
        *) break ;;
        esac
    done
}
