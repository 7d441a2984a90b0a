# shellcheck shell=sh disable=SC2154,SC2034,SC2317
# Passes files on from node to node (push --relay): a part of the program of 88-copy.sh.
#
# The data is cut into pieces. The head identifies each by a number and its SHA-256. A node keeps the last pieces in a
# folder beside the room and serves them to nodes that the head admits, through an sshd of its own. This sshd is not the
# system's: the user runs it, on the one address by which the nodes reach each other, with a host key and login keys
# made for this push, and with a forced command that serves nothing but pieces. The private keys never leave their node.
# A piece is unpacked and passed on only if its checksum is the one that the head named.
#
# mt_keys: the folder with keys and settings, in the home folder; mt_pieces: the folder with pieces. mt_peer is set
# while there is a connection to another node: numbers of pieces are written to descriptor 5, pieces are read from
# descriptor 6.

# Find the tools that serving and fetching need -> mt_lacks: what is missing
mt_find_tools() {
    mt_lacks=
    for mt_tool in ssh ssh-keygen mkfifo timeout; do
        command -v "$mt_tool" >/dev/null || mt_lacks="no '$mt_tool' there"
    done
    for mt_sshd in "$(command -v sshd)" /usr/sbin/sshd /usr/local/sbin/sshd /usr/lib/ssh/sshd ''; do
        [ ! -x "$mt_sshd" ] || break
    done
    mt_summer=sha256sum
    command -v sha256sum >/dev/null || mt_summer='cksum'
}

# SECONDS ADDRESS PORT…: report what this node can do, in frames, then relay_open. It listens for at most SECONDS, on
# ADDRESS ("": the one that the head connected to) and the first free port.
mt_relay_open() {
    mt_find_tools
    mt_make_room
    mt_remove_left .mtlaunch-relay
    mt_own=.mtlaunch-relay.$$.$mt_self_ticks.$mt_name
    mt_said=$(mkdir -m 700 "$mt_own" 2>&1) || mt_refuse_said "cannot write in the folder '$mt_folder'"
    mt_pieces=$PWD/$mt_own
    mt_frame relay_summer "$mt_summer"
    if [ -z "$mt_lacks" ] && mt_make_keys; then
        mt_frame relay_key "$(cut -d ' ' -f 1,2 "$mt_keys/login.pub")"
        mt_listen "$@" || mt_frame relay_closed "$mt_lacks"
    else
        mt_frame relay_alone "$mt_lacks"
    fi
    mt_frame relay_open 1
}

mt_make_keys() {
    mt_lacks="cannot make keys in '$HOME'"
    mt_folder_now=$PWD
    cd -- "$HOME" || return 1
    mt_remove_left .mtlaunch-relay
    cd -- "$mt_folder_now" || return 1
    mt_keys=$HOME/.mtlaunch-relay.$$.$mt_self_ticks.$mt_name.keys
    case $mt_keys in
    *[!A-Za-z0-9_./@+,=-]*) # it stands in files of sshd
        mt_keys='' mt_lacks="the name of the home folder is too odd"
        return 1
        ;;
    esac
    mt_said=$( (umask 077 && mkdir "$mt_keys" && cd "$mt_keys" && mkfifo ask got &&
        ssh-keygen -q -t ed25519 -N '' -C relay -f login && ssh-keygen -q -t ed25519 -N '' -C relay -f host) 2>&1 </dev/null) && return 0
    mt_reword "$(printf '%s\n' "$mt_said" | head -n 1)"
    mt_lacks="$mt_lacks: $mt_why"
    return 1
}

# --- serving pieces ---

# What a node that logs in can do: send the number of a piece, and receive the piece.
# shellcheck disable=SC2016
mt_serve_text='
cd "${0%/*}/pieces" || exit 1
printf "\n@@mtlaunch-relay\n"
while IFS= read -r number; do
    case $number in
    "" | *[!0-9]*) exit 1 ;;
    esac
    cat "./$number" || exit 1
done'

mt_write_settings() {
    (
        umask 077
        ln -s "$mt_pieces" "$mt_keys/pieces"
        printf '%s\n' "$mt_serve_text" >"$mt_keys/serve"
        : >"$mt_keys/admitted"
        mt_pam=no # a locked root may log in only with it
        [ "$(id -u)" != 0 ] || ! "$mt_sshd" -T 2>/dev/null | grep -qix 'usepam yes' || mt_pam=yes
        cat >"$mt_keys/settings" <<MT_SETTINGS
ListenAddress $mt_address
HostKey $mt_keys/host
AuthorizedKeysFile $mt_keys/admitted
ForceCommand exec /bin/sh $mt_keys/serve
PidFile none
AllowUsers $mt_user
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM $mt_pam
PermitRootLogin prohibit-password
PermitTTY no
PermitUserRC no
PermitTunnel no
AllowTcpForwarding no
AllowStreamLocalForwarding no
AllowAgentForwarding no
X11Forwarding no
UseDNS no
MaxAuthTries 2
MaxSessions 1
LoginGraceTime 20
ClientAliveInterval 15
ClientAliveCountMax 3
Compression no
Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes128-ctr
LogLevel INFO
MT_SETTINGS
    )
}

mt_listen() { # SECONDS ADDRESS PORT…
    mt_seconds=$1 mt_address=$2
    shift 2
    mt_lacks="no 'sshd' there"
    [ -x "$mt_sshd" ] || return 1
    mt_rest=${SSH_CONNECTION#* }
    mt_rest=${mt_rest#* }
    mt_address=${mt_address:-${mt_rest%% *}}
    mt_user=$(id -un)
    mt_lacks="the address by which other nodes reach it is not known"
    [ -n "$mt_address" ] || return 1
    mt_write_settings || return 1
    for mt_port; do
        : >"$mt_keys/log"
        "$mt_sshd" -D -f "$mt_keys/settings" -E "$mt_keys/log" -p "$mt_port" </dev/null >/dev/null 2>&1 &
        mt_door=$!
        if mt_wait_for_door; then
            mt_stat "$mt_door"
            mt_door_ticks=$mt_st_ticks
            (mt_guard_door) </dev/null >/dev/null 2>&1 &
            mt_guard=$!
            mt_frame relay_door "$mt_user $mt_port $mt_bound"
            mt_frame relay_host_key "$(cut -d ' ' -f 1,2 "$mt_keys/host.pub")"
            return 0
        fi
        kill "$mt_door" 2>/dev/null
        mt_door=
    done
    mt_lacks="its sshd did not start: $(tail -n 1 "$mt_keys/log")"
    return 1
}

mt_wait_for_door() { # -> mt_bound, the address as numbers
    mt_turn=0
    while [ "$mt_turn" -lt 50 ]; do
        mt_bound=$(sed -n 's/^Server listening on \([^ ]*\) port.*/\1/p' "$mt_keys/log" | head -n 1)
        [ -z "$mt_bound" ] || return 0
        kill -0 "$mt_door" 2>/dev/null || return 1
        mt_turn=$((mt_turn + 1))
        sleep 0.1 || sleep 1
    done
    return 1
}

# Runs beside the program: stops the sshd (the door) when its time is up, or when the program was killed.
mt_guard_door() {
    trap - EXIT HUP INT TERM
    cd /
    mt_read_clock
    mt_until=$((mt_clock + mt_seconds * 100))
    while mt_alive "$$" "$mt_self_ticks" && mt_alive "$mt_door" "$mt_door_ticks" && [ "$mt_clock" -lt "$mt_until" ]; do
        sleep 2
        mt_read_clock
    done
    mt_close_door
    mt_alive "$$" "$mt_self_ticks" || rm -rf "$mt_keys" "$mt_pieces" "$mt_room"
}

# Stop the sshd and its children: the processes of its connections would continue without it.
mt_close_door() {
    mt_alive "$mt_door" "$mt_door_ticks" || return 0
    mt_kids=$(cat "/proc/$mt_door/task/$mt_door/children" 2>/dev/null)
    # shellcheck disable=SC2086
    kill "$mt_door" $mt_kids 2>/dev/null
}

mt_admit() { # NUMBER KEY: a node may log in from now on
    printf 'restrict %s\n' "$2" >>"$mt_keys/admitted" && mt_frame admitted "$1"
}

# --- fetching pieces ---

# ADDRESS PORT USER KEY: connect to another node -> mt_peer, or mt_peer_why: why it failed
mt_connect() {
    mt_disconnect
    mt_peer_why="cannot write in '$mt_keys'"
    printf 'relay %s\n' "$4" >"$mt_keys/known" || return 0
    exec 5<>"$mt_keys/ask"
    ssh -F /dev/null -T -a -x -p "$2" -l "$3" -i "$mt_keys/login" -o HostKeyAlias=relay -o UserKnownHostsFile="$mt_keys/known" \
        -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes -o BatchMode=yes -o IdentitiesOnly=yes \
        -o IdentityAgent=none -o ConnectTimeout=5 -o ServerAliveInterval=10 -o ServerAliveCountMax=3 -o LogLevel=ERROR \
        -o Ciphers=aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes128-ctr \
        -- "$1" <"$mt_keys/ask" >"$mt_keys/got" 2>"$mt_keys/said" 5>&- &
    mt_ssh=$!
    exec 6<"$mt_keys/got"
    # start-up files of the login on the other node may print something first
    # shellcheck disable=SC2016
    if timeout 20 /bin/sh -c 'while IFS= read -r l; do [ "$l" != @@mtlaunch-relay ] || exit 0; done; exit 1' <&6; then
        mt_peer=1
        return 0
    fi
    mt_peer_why=$(tail -n 1 "$mt_keys/said")
    case $mt_peer_why in
    '') mt_peer_why="the login did not come to its command" ;;
    "ssh: connect to host "*) mt_peer_why="no way to other nodes at ports 20000 to 28999: ${mt_peer_why##*: }" ;;
    esac
    mt_disconnect
}

mt_disconnect() {
    [ -n "$mt_ssh" ] || return 0
    exec 5>&- 6<&-
    kill "$mt_ssh" 2>/dev/null
    wait "$mt_ssh" 2>/dev/null
    mt_ssh='' mt_peer=''
}

# NUMBER RECORDS SUM: receive a piece from standard input into the folder of pieces. Status 1: the input ended early; 2:
# the checksum is wrong.
mt_receive() {
    mt_got=$($mt_within dd bs=10240 count="$2" iflag=fullblock 2>/dev/null | tee "$mt_pieces/new" 2>/dev/null | $mt_summer)
    mt_written=$(wc -c <"$mt_pieces/new")
    if [ "${mt_got%% *}" != "$3" ]; then
        [ "$((mt_written))" = "$(($2 * 10240))" ] || return 1
        return 2
    fi
    [ "$((mt_written))" = "$(($2 * 10240))" ] && mv -f "$mt_pieces/new" "$mt_pieces/$1" && return 0
    mt_why="input/output error"
    mt_find_no_room
    mt_refuse "cannot write in the folder '$mt_folder': $mt_why"
}

mt_expect() { # NUMBER SUM: of the piece that comes next from the head
    mt_number=$1 mt_sum=$2
}

mt_take_piece() { # RECORDS
    mt_within=
    mt_receive "$mt_number" "$1" "$mt_sum" || mt_refuse "what arrived there is not what was sent"
    mt_frame have "$mt_number"
}

mt_fetch() { # NUMBER RECORDS SUM: from the node that this one is connected to
    if [ -n "$mt_peer" ]; then
        mt_within='timeout 60'
        mt_peer_why="the connection ended"
        if (printf '%s\n' "$1" >&5) 2>/dev/null; then
            mt_receive "$@" <&6
            case $? in
            0)
                mt_frame have "$1"
                return
                ;;
            2) mt_peer_why=damaged ;;
            esac
        fi
        mt_disconnect
    fi
    mt_frame fetch_failed "$mt_peer_why"
}

# --- using pieces ---

mt_unpack_piece() { # NUMBER: an archive, into the room
    mt_said=$( (cd -- "$mt_room" && tar -xopf "$mt_pieces/$1") 2>&1) || mt_refuse_said "cannot write in the folder '$mt_folder'"
}

mt_append() { # NUMBER BYTES: so many of its bytes are the next ones of a large file
    mt_said=$( (head -c "$2" "$mt_pieces/$1" >>"$mt_pieces/whole") 2>&1) || mt_refuse_said "cannot write in the folder '$mt_folder'"
}

mt_place() { # PATH MODE CCYYMMDDhhmm.SS: the large file is whole, and goes to the room
    mt_said=$( (
        cd -- "$mt_room" || exit
        case $1 in
        */*) mkdir -p -- "./${1%/*}" || exit ;;
        esac
        mv -f -- "$mt_pieces/whole" "./$1" && chmod -- "$2" "./$1" && TZ=UTC0 touch -c -t "$3" -- "./$1"
    ) 2>&1) || mt_refuse_said "cannot write '$1'"
}

mt_abandon() { # the large file is not wanted
    rm -f "$mt_pieces/whole"
}

mt_forget() { # FIRST END: pieces that nobody asks for any more
    mt_number=$1 mt_end=$2
    set --
    while [ "$mt_number" -lt "$mt_end" ]; do
        set -- "$@" "$mt_pieces/$mt_number"
        mt_number=$((mt_number + 1))
    done
    rm -f "$@"
}

mt_relay_close() {
    mt_disconnect
    [ -z "$mt_guard" ] || kill "$mt_guard" 2>/dev/null
    [ -z "$mt_door" ] || mt_close_door
    rm -rf "$mt_pieces" ${mt_keys:+"$mt_keys"}
}
