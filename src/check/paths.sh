# shellcheck shell=sh disable=SC2154,SC2088,SC2034
# Facts, lists: missing, unreadable (required paths), named_missing, named_unreadable (paths that arguments name).
# config_missing, config_unreadable: the configuration that the launcher reads.

mt_job_file() { # PATH, relative to the job's folder -> mt_file
    mt_file=$1
    case $mt_file in
    /*) ;;
    '~/'*) mt_file=${mt_home%/}/${mt_file#'~/'} ;;
    *) mt_file=$mt_folder/$mt_file ;;
    esac
}

# LIST PREFIX. A path that an argument names may be a prefix of its files: --data-path DIR/my_text_document
mt_look_at_paths() {
    while IFS= read -r mt_path; do
        [ -n "$mt_path" ] || continue
        mt_job_file "$mt_path"
        if [ ! -e "$mt_file" ] && [ "$2" = named_ ] && [ -e "$mt_file.idx" ]; then
            mt_file=$mt_file.idx
        fi
        if [ ! -e "$mt_file" ]; then
            mt_frame "$2missing" "$mt_path"
        elif [ ! -r "$mt_file" ] || { [ -d "$mt_file" ] && [ ! -x "$mt_file" ]; }; then
            mt_frame "$2unreadable" "$mt_path"
        fi
    done <<MT_LIST
$1
MT_LIST
}

mt_check_paths() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_read_text "$mt_tmp/found.folder"
    mt_folder=$mt_text
    mt_look_at_paths "$mt_paths_required" ''
    mt_look_at_paths "$mt_paths_named" named_
    mt_look_at_paths "$mt_paths_config" config_
}
