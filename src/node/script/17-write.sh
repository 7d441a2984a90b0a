# shellcheck shell=sh disable=SC2154,SC2034
# Writes the small files of a run, even on a full disk. The keeper's text contains this part too.

mt_reword() { # what a tool said of a file -> mt_why
    case $1 in
    *[Nn]"o space left"*) mt_why="no space left on device" ;;
    *[Qq]"uota exceeded"*) mt_why="disk quota exceeded" ;;
    *[Rr]"ead-only file system"*) mt_why="read-only file system" ;;
    *"annot fork"* | *"can't fork"* | *"fork:"*) mt_why="cannot fork" ;;
    *) mt_why=${1##*: } ;;
    esac
}

# FILE, which could not be written: the reason -> mt_why, empty when it can be written now. The shell's own message does
# not tell (dash reports a full disk as "I/O error"), but that of cat does.
mt_find_why() {
    mt_why=$( (umask 077 && export LC_ALL=C && printf 'x\n' | cat >"$1") 2>&1)
    mt_code=$?
    rm -f "$1" 2>/dev/null
    [ "$mt_code" != 0 ] || mt_why=
    mt_reword "$mt_why"
}

# FILE TEXT: write the text to the file; fails with mt_why.
mt_write() {
    { printf '%s' "$2" >"$1"; } 2>/dev/null && return 0
    mt_why=$( (umask 077 && printf '%s' "$2" >"$1") 2>&1) && return 0
    mt_said=${mt_why##*: }
    mt_find_why "$1"
    mt_why=${mt_why:-$mt_said}
    return 1
}

# SUFFIX -> mt_size: bytes of disk space to reserve for this file
mt_room_size() {
    case $1 in
    pid) mt_size=8 ;;
    exit) mt_size=256 ;;
    state) mt_size=1536 ;;
    *) mt_size=4000 ;;
    esac
}

# BASE SUFFIX: reserve disk space for mt_put, as a file of full size beside BASE.SUFFIX; fails with mt_why.
mt_set_aside() {
    mt_room_size "$2"
    mt_new=${1%/*}/.${1##*/}.$2.new
    { printf "%${mt_size}s" '' >"$mt_new"; } 2>/dev/null || mt_write "$mt_new" "$(printf "%${mt_size}s" '')"
}

# BASE SUFFIX TEXT: write BASE.SUFFIX atomically, by rename. When no new file can be written, the reserved file is
# filled in place, which takes no further space. A process moves it to a name of its own before it fills it.
mt_put() {
    mt_leaf=${1%/*}/.${1##*/}.$2
    mt_new=$mt_leaf.$$ mt_room=$mt_leaf.room.$$
    if { printf '%s' "$3" >"$mt_new"; } 2>/dev/null && mv "$mt_new" "$1.$2" 2>/dev/null; then
        return 0
    fi
    rm -f "$mt_new" 2>/dev/null
    [ -f "$mt_room" ] || mv "$mt_leaf.new" "$mt_room" 2>/dev/null || return 1
    mt_room_size "$2"
    mt_fill=
    case $2 in
    exit | state) mt_fill=room= ;;
    esac
    mt_size=$((mt_size - ${#3} - ${#mt_fill} - 1))
    [ "$mt_size" -gt 0 ] || mt_size=1
    { printf "%s%s%${mt_size}s\n" "$3" "$mt_fill" '' 1<>"$mt_room"; } 2>/dev/null || return 1
    # .seen is written repeatedly: its previous file becomes the reserve for the next write
    [ "$2" != seen ] || ln "$1.$2" "$mt_leaf.back" 2>/dev/null
    mv "$mt_room" "$1.$2" 2>/dev/null || return 1
    [ "$2" != seen ] || mv "$mt_leaf.back" "$mt_leaf.new" 2>/dev/null
    return 0
}

# BASE: remove reserved files and the remains of interrupted writes, by exact names
mt_drop_rooms() {
    mt_leaf=${1%/*}/.${1##*/}.
    set --
    for mt_file in "$mt_leaf"*; do
        mt_end_name=${mt_file#"$mt_leaf"}
        case $mt_end_name in
        new | state.new | pid.new | exit.new | seen.new | seen.back)
            set -- "$@" "$mt_file"
            continue
            ;;
        esac
        mt_digits "${mt_end_name##*.}"
        [ -n "$mt_number" ] || continue
        case ${mt_end_name%.*} in
        state | pid | exit | seen | old | try | state.room | pid.room | exit.room | seen.room) set -- "$@" "$mt_file" ;;
        esac
    done
    [ $# = 0 ] || rm -f "$@"
}

# [TEMPLATE] -> mt_tmp, a new temporary folder in which files can be written; fails with mt_why.
mt_make_tmp() {
    mt_tmp=$(mktemp -d "$@" 2>&1) || {
        mt_why=${mt_tmp##*: } mt_tmp=
        return 1
    }
    mt_tmp=${mt_tmp##*"
"} # the loader may have said something before
    mt_write "$mt_tmp/try" x && return 0
    rm -rf "$mt_tmp"
    mt_tmp=
    return 1
}
