# shellcheck shell=sh disable=SC2154
# Fact: kills=1. logind.conf(5): with KillUserProcesses, all processes of a user end with the last session, unless
# lingering is enabled. Later files win.
mt_check_logout() {
    [ "$mt_uid" != 0 ] && [ ! -e "/var/lib/systemd/linger/$mt_user" ] || return 0
    mt_line=$(cat /usr/lib/systemd/logind.conf.d/*.conf /etc/systemd/logind.conf /run/systemd/logind.conf.d/*.conf \
        /etc/systemd/logind.conf.d/*.conf 2>/dev/null |
        sed -n 's/^[[:space:]]*KillUserProcesses[[:space:]]*=[[:space:]]*//p' | tail -n 1)
    case $mt_line in
    [Yy]* | [Tt]* | 1 | [Oo][Nn]) mt_frame kills 1 ;;
    esac
}
