# shellcheck shell=sh disable=SC2154,SC2034,SC2317,SC2030,SC2031,SC2088
# SC2317: the functions are called by the shell text on standard input
# The node's side of push and pull: a separate program with 10-frame.sh, 15-stat.sh and 17-write.sh in front.
#
# Arguments: NONCE BASE. The work comes on standard input, as pieces with a line before each:
#   run N      N blocks of 512 bytes of shell text: calls of the functions below, with quoted words
#   tar N      N records of 10240 bytes: an archive, unpacked into the room (see below)
#   folders N  the same, unpacked into the folder itself: folders, to set their modes and times
#   piece N    N records: a piece that can be passed on (87-relay.sh)
# dd reads exactly the bytes of a piece; a shell reads lines byte by byte.
#
# New files are unpacked into a room, a temporary folder beside the files they replace, and each is moved from there by
# a rename. So a file is replaced completely or not at all, whatever ends this program. The program removes its room
# when it ends; a room that a killed program left is removed by the next one.

mt_refuse() { # DETAIL
    mt_fail copy "$1"
}

# Answer why a tool failed with WHAT; mt_said is the tool's output.
mt_refuse_said() { # WHAT
    mt_said=$(printf '%s\n' "$mt_said" | grep -v -e '^tar: Exiting' -e '^tar: Error exit' | head -n 1)
    mt_reword "$mt_said"
    case $mt_said in
    *"rote only"* | *"hort write"* | *"rror exit delayed"* | *"write error"*) mt_find_no_room ;;
    esac
    mt_refuse "$1: $mt_why"
}

# Find out why tar could not write everything: it did not say.
mt_find_no_room() {
    mt_found=$( (export LC_ALL=C && dd if=/dev/zero of="$mt_room/.why" bs=65536 count=64) 2>&1) || {
        mt_reword "$(printf '%s\n' "$mt_found" | head -n 1)"
    }
    rm -f "$mt_room/.why"
}

# FOLDER MAKE: enter the folder; with MAKE, create it if it is missing; else report it in a frame "missing".
mt_open() {
    case $1 in
    "~" | "~/") mt_folder=$HOME ;;
    "~/"*) mt_folder=$HOME/${1#"~/"} ;;
    -*) mt_folder=./$1 ;;
    *) mt_folder=$1 ;;
    esac
    mt_here=
    if [ ! -d "$mt_base" ] && [ -n "$2" ]; then
        mt_said=$(mkdir -p -- "$mt_base" 2>&1) || mt_refuse_said "cannot make the folder '$mt_base'"
    elif [ ! -e "$mt_base" ]; then
        mt_frame missing "$mt_base"
        return 1
    fi
    cd -- "$mt_base" || mt_refuse "cannot enter the folder '$mt_base'"
    if [ -n "$2" ] && [ ! -d "$mt_folder" ]; then
        mt_said=$(mkdir -p -- "$mt_folder" 2>&1) || mt_refuse_said "cannot make the folder '$mt_folder'"
    fi
    if [ ! -d "$mt_folder" ]; then
        if [ -e "$mt_folder" ] || [ -h "$mt_folder" ]; then
            mt_refuse "'$mt_folder' is not a folder"
        fi
        mt_frame missing "$mt_folder"
        return 1
    fi
    mt_said=$(cd -P -- "$mt_folder" 2>&1) || mt_refuse_said "cannot enter the folder '$mt_folder'"
    cd -P -- "$mt_folder" && mt_here=1
}

# Everything in this folder that is not in the source will be removed: refuse if it is or contains the home folder.
# Otherwise report this folder in a frame.
mt_check_delete() {
    [ -n "$mt_here" ] || return 0
    mt_home=$(cd -P -- "$HOME" 2>/dev/null && pwd)
    case $mt_home/ in
    "${PWD%/}"/*) mt_refuse "'--delete' would remove what is in '$PWD', which is or contains the home folder" ;;
    esac
    mt_frame folder "$PWD"
}

mt_begin_list() {
    mt_frame list 1
}

mt_end_list() {
    printf 'E\0\0'
}

# PATH…: list what is at and below each, as entries "KIND MODE SIZE TIME PATH<NUL>LINK<NUL>". GNU find prints them
# itself; otherwise stat prints the whole st_mode, in hexadecimal digits after an x.
mt_list() {
    [ -n "$mt_here" ] || return 0
    for mt_path; do
        shift
        if [ -e "./$mt_path" ] || [ -h "./$mt_path" ]; then
            set -- "$@" "./$mt_path"
        fi
    done
    [ "$#" -gt 0 ] || return 0
    if [ -z "$mt_find" ]; then
        mt_find=stat
        ! find / -maxdepth 0 -printf '' 2>/dev/null || mt_find='printf'
    fi
    if [ "$mt_find" = printf ]; then
        find "$@" -name '.mtlaunch-*' -prune -o -printf '%y %m %s %T@ %p\0%l\0' 2>/dev/null
    else
        # shellcheck disable=SC2016 # for the shell that find starts
        find "$@" -name '.mtlaunch-*' -prune -o -exec /bin/sh -c '
            mt_facts=$(stat -c "%f %s %Y" -- "$@" 2>/dev/null)
            if [ "$(printf "%s\n" "$mt_facts" | wc -l)" != "$#" ]; then # one went meanwhile
                mt_facts=$(for mt_path; do
                    stat -c "%f %s %Y" -- "$mt_path" 2>/dev/null || echo "0 0 0"
                done)
            fi
            printf "%s\n" "$mt_facts" | while IFS=" " read -r mt_mode mt_size mt_time; do
                printf "x %s %s %s %s\0" "$mt_mode" "$mt_size" "$mt_time" "$1"
                [ ! -h "$1" ] || readlink -n -- "$1"
                printf "\0"
                shift
            done' sh {} + 2>/dev/null
    fi
}

# PATH…: a frame with the SHA-256 of each file, then one with the number of paths. GNU sha256sum begins a line with a
# backslash if it escaped the name.
mt_sum() {
    for mt_path; do
        shift
        set -- "$@" "./$mt_path"
    done
    sha256sum -- "$@" 2>/dev/null |
        sed -n "s/^\\\\\\{0,1\\}\\([0-9a-f]\\{64\\}\\) .*/@@$mt_nonce sum=\\1/p"
    mt_frame summed "$#"
}

# PATH: is it inside this folder? A symlink on the way would lead out of it.
mt_stays_inside() {
    mt_rest=$1/ mt_part=
    while :; do
        mt_part=$mt_part${mt_rest%%/*}
        mt_rest=${mt_rest#*/}
        [ -n "$mt_rest" ] || return 0
        [ ! -h "./$mt_part" ] || mt_refuse "'$mt_part' became a link meanwhile"
        mt_part=$mt_part/
    done
}

# --- changing files ---

# PREFIX: remove folders that a killed program left in the current one. Their names end in its pid, its start time and
# the machine's name.
mt_remove_left() {
    mt_name=$(uname -n)
    for mt_old in "./$1".*; do
        [ -d "$mt_old" ] || continue
        [ ! -h "$mt_old" ] || continue
        mt_rest=${mt_old#"./$1."}
        mt_pid=${mt_rest%%.*} mt_rest=${mt_rest#*.}
        case ${mt_rest#*.} in
        "$mt_name" | "$mt_name.keys") mt_alive "$mt_pid" "${mt_rest%%.*}" || rm -rf "$mt_old" ;;
        esac
    done
}

# Create this program's own folder in the one that is filled -> mt_room
mt_make_room() {
    [ -z "$mt_room" ] || return 0
    mt_remove_left .mtlaunch-push
    mt_stat "$$"
    mt_self_ticks=$mt_st_ticks
    mt_own=.mtlaunch-push.$$.$mt_self_ticks.$mt_name
    mt_said=$(mkdir -m 700 "$mt_own" 2>&1) || mt_refuse_said "cannot write in the folder '$mt_folder'"
    mt_room=$PWD/$mt_own
    mt_find_mounts
}

# Mount points below this folder -> mt_mounts, one per line. The kernel writes special bytes as octal digits.
mt_find_mounts() {
    mt_mounts=
    while IFS=' ' read -r mt_id mt_above mt_device mt_root mt_point mt_rest; do
        case $mt_point in
        *\\*) mt_point=$(printf '%b' "$(printf '%s\n' "$mt_point" | sed 's/\\\([0-7]\)/\\0\1/g')") ;;
        esac
        case $mt_point in
        "${PWD%/}"/*) mt_mounts="$mt_mounts$mt_point
" ;;
        esac
    done </proc/self/mountinfo
}

# Is FOLDER on one of these file systems?
mt_is_mounted() { # FOLDER
    while IFS= read -r mt_point; do
        case $1/ in
        "$mt_point"/*) return 0 ;;
        esac
    done <<MT_MOUNTS
${mt_mounts%?}
MT_MOUNTS
    return 1
}

mt_unpack() { # RECORDS FOLDER
    dd bs=10240 count="$1" iflag=fullblock 2>/dev/null | (cd -- "$2" && LC_ALL=C tar -xopf -) 2>&1
}

mt_take_tar() { # RECORDS
    mt_make_room
    mt_said=$(mt_unpack "$1" "$mt_room") || mt_refuse_said "cannot write in the folder '$mt_folder'"
}

mt_take_folders() { # RECORDS
    mt_said=$(mt_unpack "$1" .) || {
        mt_reword "$(printf '%s\n' "$mt_said" | head -n 1)"
        mt_frame folders_kept "$mt_why"
    }
}

mt_move() { # FOLDER PATH…: from the room into FOLDER
    mt_stays_inside "$1/x"
    mt_to=$PWD/$1
    shift
    if [ -n "$mt_mounts" ] && mt_is_mounted "$mt_to"; then
        mt_move_over "$@"
        return
    fi
    mt_said=$( (cd -- "$mt_room" && LC_ALL=C mv -f -- "$@" "$mt_to/.") 2>&1) || mt_refuse_said "cannot write in '$mt_to'"
}

# PATH…: into mt_to, which is on another file system, where a move is a copy: files are copied into a room there, and
# complete ones are moved on from it.
mt_move_over() {
    mt_far_room=$mt_to/${mt_room##*/}
    mt_said=$( (
        export LC_ALL=C
        cd -- "$mt_to" && mt_remove_left .mtlaunch-push && mkdir -m 700 "./${mt_room##*/}" && cd -- "$mt_room" &&
            mv -f -- "$@" "$mt_far_room/." && cd -- "$mt_far_room" && for mt_path; do
            mv -f -- "./${mt_path##*/}" .. || exit
        done && rmdir "$mt_far_room"
    ) 2>&1) || mt_refuse_said "cannot write in '$mt_to'"
    mt_far_room=
}

mt_drop() { # PATH…: what was unpacked and is not wanted
    (cd -- "$mt_room" && rm -f -- "$@") 2>/dev/null
}

mt_empty_room() {
    rm -rf "$mt_room"
    mkdir -m 700 "$mt_room"
}

mt_make_writable() { # FOLDER…
    for mt_path; do
        mt_stays_inside "$mt_path/x"
        mt_said=$(LC_ALL=C chmod u+rwx -- "./$mt_path" 2>&1) || mt_refuse_said "cannot write in '$mt_path'"
    done
}

mt_set_mode() { # MODE PATH…
    mt_mode=$1
    shift
    for mt_path; do
        mt_stays_inside "$mt_path/x"
    done
    mt_said=$(LC_ALL=C chmod -- "$mt_mode" "$@" 2>&1) || mt_refuse_said "cannot set the mode of '$1'"
}

mt_close_folder() { # MODE PATH
    mt_stays_inside "$2/x"
    chmod -- "$1" "./$2" 2>/dev/null || true
}

mt_set_time() { # CCYYMMDDhhmm.SS PATH
    mt_stays_inside "$2/x"
    mt_said=$(TZ=UTC0 LC_ALL=C touch -c -t "$1" -- "$2" 2>&1) || mt_refuse_said "cannot set the time of '$2'"
}

# PATH: remove what is there, so that something of another kind can take its place; a folder only if it is empty.
mt_clear() {
    mt_stays_inside "$1"
    if [ -d "./$1" ] && [ ! -h "./$1" ]; then
        rmdir -- "./$1" 2>/dev/null || mt_refuse "'$1' is a folder there that is not empty, and none here"
    else
        mt_said=$(LC_ALL=C rm -f -- "./$1" 2>&1) || mt_refuse_said "cannot remove '$1'"
    fi
}

mt_remove() { # PATH…: files and links
    for mt_path; do
        mt_stays_inside "$mt_path"
    done
    mt_said=$(LC_ALL=C rm -f -- "$@" 2>&1) || mt_refuse_said "cannot remove '$1'"
}

mt_remove_folders() { # PATH…: each behind what is in it; one in which something came meanwhile stays
    for mt_path; do
        mt_stays_inside "$mt_path"
    done
    mt_said=$(LC_ALL=C rmdir -- "$@" 2>&1) || true
}

# --- sending files back ---

# From here on standard output is for contents, and answers go to standard error.
mt_contents() {
    exec 3>&1 >&2
}

mt_send() { # PATH…: the content of these files, one after the other
    [ -n "$mt_here" ] || return 0
    cat -- "$@" 2>/dev/null >&3
}

mt_send_from() { # OFFSET PATH
    [ -n "$mt_here" ] || return 0
    { dd bs=1 skip="$1" count=0 2>/dev/null && cat; } <"./$2" >&3
}

# --- the loop ---

mt_on_copy_exit() {
    cd /
    [ -z "$mt_pieces" ] || mt_relay_close
    [ -z "$mt_far_room" ] || rm -rf "$mt_far_room"
    [ -z "$mt_room" ] || rm -rf "$mt_room"
}

mt_copy() {
    mt_nonce=$1 mt_base=${2:-$HOME} mt_room='' mt_find='' mt_here=''
    mt_far_room='' mt_mounts='' mt_pieces='' mt_keys='' mt_ssh='' mt_peer='' mt_door='' mt_guard=''
    export LC_ALL=C
    trap mt_on_copy_exit EXIT
    trap 'exit 143' HUP INT TERM
    command -v tar >/dev/null || mt_fail unsupported tar
    case $mt_base in
    "~/"*) mt_base=$HOME/${mt_base#"~/"} ;;
    [!/]*) mt_base=$PWD/$mt_base ;;
    esac
    while IFS=' ' read -r mt_word mt_count; do
        case $mt_word in
        run)
            mt_text=$(dd bs=512 count="$mt_count" iflag=fullblock 2>/dev/null)
            eval "$mt_text"
            ;;
        tar) mt_take_tar "$mt_count" ;;
        folders) mt_take_folders "$mt_count" ;;
        piece) mt_take_piece "$mt_count" ;;
        *) exit 98 ;;
        esac
    done
    exit 0
}
unset IFS CDPATH
set +e +u
mt_copy "$@"
