# shellcheck shell=sh disable=SC2154,SC2034,SC2088,SC2012
# Finds out why a program cannot run although its file exists. The job's shell has stored its folder and its PATH
# after the setup lines (found.folder, found.path). Facts: kind, file, detail.

# HOW FILE -> mt_fault, empty if there is none. HOW: exec (it is executed), shell (a shell reads it), read.
mt_look_at() {
    mt_fault='' mt_fault_detail=''
    mt_file=$2
    case $mt_file in
    '') return 0 ;;
    /*) ;;
    '~/'*) mt_file=${mt_home%/}/${mt_file#'~/'} ;;
    */*) mt_file=$mt_folder/$mt_file ;;
    *)
        if [ "$1" = exec ]; then
            mt_look_up "$2"
        else
            mt_file=$mt_folder/$mt_file
        fi
        ;;
    esac
    if [ -n "$mt_fault" ] || [ ! -e "$mt_file" ]; then
        return 0
    elif [ -d "$mt_file" ]; then
        mt_fault=folder
    elif [ "$1" = exec ] && [ ! -x "$mt_file" ]; then
        mt_fault=mode
        case $(ls -ldL "$mt_file" 2>/dev/null | cut -c 4,7,10) in
        *[xst]*) mt_fault=forbidden ;;
        esac
    elif [ "$1" != read ]; then
        mt_look_at_line "$1"
    fi
    mt_fault_file=$2
}

# A name without a slash -> mt_file, its file in PATH. mt_fault=here: it is not in PATH, but the folder has such a
# file.
mt_look_up() {
    mt_file=found.interpreter
    [ -z "$mt_wanted" ] || [ "$1" != "$mt_wanted" ] || mt_file=found.command
    mt_read_text "$mt_tmp/$mt_file"
    mt_file=$mt_text
    mt_fault_file=$1
    [ -n "$mt_file" ] || [ ! -f "$mt_folder/$1" ] || mt_fault=here
    case $mt_file in
    /*) ;;
    *) mt_file= ;;
    esac
}

# Checks the first line of a script: its line end, and the interpreter that it names.
mt_look_at_line() { # HOW
    { mt_line=$(head -c 512 "$mt_file"); } 2>/dev/null # bash warns about NUL bytes
    mt_line=${mt_line%%"
"*}
    mt_return=.
    case $mt_line in
    *[[:cntrl:]]) mt_return=$(printf '\r') ;;
    esac
    case $1$mt_line in
    'exec#!'*"$mt_return" | shell*"$mt_return")
        mt_fault=crlf
        return 0
        ;;
    'exec#!'*) ;;
    *) return 0 ;;
    esac
    IFS=' 	' read -r mt_interpreter_file mt_rest <<MT_LINE
${mt_line#??}
MT_LINE
    mt_fault_detail=$mt_interpreter_file
    case $mt_interpreter_file in
    */env)
        mt_fault_detail=${mt_rest%%[ 	]*}
        case $mt_fault_detail in
        '' | -* | *=*) return 0 ;;
        esac
        (
            PATH=$(cat "$mt_tmp/found.path")
            command -v "$mt_fault_detail"
        ) >/dev/null 2>&1 || mt_fault=interpreter
        ;;
    /*) [ -x "$mt_interpreter_file" ] || mt_fault=interpreter ;;
    esac
}

# Reports the first fault in the files that the job executes and reads.
mt_check_fault() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_read_text "$mt_tmp/found.folder"
    mt_folder=$mt_text
    mt_look_at exec "$mt_look_exec"
    [ -n "$mt_fault" ] || mt_look_at shell "$mt_look_shell"
    [ -n "$mt_fault" ] || mt_look_at read "$mt_look_read"
    [ -n "$mt_fault" ] || return 0
    mt_frame kind "$mt_fault"
    mt_frame file "$mt_fault_file"
    mt_frame detail "$mt_fault_detail"
}
