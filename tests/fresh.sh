#!/bin/sh
# Run make targets of this commit on a bare Debian: a root made for it, with nothing but git, make and ca-certificates.
#   sh tests/fresh.sh SUITE [TARGET...]      SUITE: bookworm, trixie …; TARGET: what make is given (demo check)
# Needs root and debootstrap. The packages come from the mirror that this machine's apt uses. Everything happens in
# namespaces of its own: the root's processes end with this script, the root is removed, unless ROOT=FOLDER names one:
# that one is made when it is missing, used again when it is there, and kept.
set -u

fail() {
    echo "fresh: $*" >&2
    exit 1
}

# --- inside the root's namespaces: the first process there -----------------------------------------------

make_root() { # SUITE ROOT MIRROR
    debootstrap --variant=minbase --include=git,make,ca-certificates "$1" "$2.new" "$3" ||
        fail "debootstrap of '$1' failed: see '$2.new/debootstrap/debootstrap.log'"
    # Services are not started when their package is installed, as in every container image.
    printf '#!/bin/sh\nexit 101\n' >"$2.new/usr/sbin/policy-rc.d"
    chmod 755 "$2.new/usr/sbin/policy-rc.d"
    apt-config dump | grep -E '^Acquire::https?::' >"$2.new/etc/apt/apt.conf.d/99caller"
    mv "$2.new" "$2"
}

# A plain chroot is not enough: the kernel makes no user namespaces there, and the test clusters fall back to loopback.
enter_root() { # ROOT
    set -e
    mount --rbind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount --rbind /dev dev
    mount --rbind /sys sys
    mount -t tmpfs -o mode=755 tmpfs run
    mkdir -p run/lock run/old
    pivot_root . run/old
    umount -l /run/old
    rmdir /run/old
    set +e
}

if [ "${1-}" = --inside ]; then # SUITE ROOT MIRROR SOURCE TARGET...
    suite=$2 root=$3 mirror=$4 source=$5
    shift 5
    [ -d "$root" ] || make_root "$suite" "$root" "$mirror" || exit 1
    cp /etc/hosts /etc/resolv.conf "$root/etc/"
    # The caller's way to PyPI: the certificates it trusts, its pip.conf, its folder of wheels.
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
    wheels=${PIP_FIND_LINKS-}
    if [ -d "$wheels" ]; then
        mkdir -p "$root$wheels"
        mount --bind -o ro "$wheels" "$root$wheels"
    fi
    rm -rf "$root/root/mtlaunch"
    git clone --quiet --no-hardlinks "$source" "$root/root/mtlaunch" || fail "'$source' was not cloned"
    enter_root "$root"
    cd /root/mtlaunch || exit 1
    for target in "$@"; do
        echo "fresh: $suite: make $target"
        began=$(date +%s)
        env -i CI=true ${wheels:+"PIP_FIND_LINKS=$wheels"} HOME=/root LANG=C.UTF-8 TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "make $target" </dev/null || fail "$suite: 'make $target' failed after $(($(date +%s) - began)) s"
        echo "fresh: $suite: make $target: passed in $(($(date +%s) - began)) s"
    done
    exit 0
fi

# --- outside ---------------------------------------------------------------------------------------------

[ $# -ge 1 ] || fail "usage: sh tests/fresh.sh SUITE [TARGET...]"
suite=$1
shift
[ $# -gt 0 ] || set -- demo check
[ "$(id -u)" = 0 ] || fail "needs root: sudo sh tests/fresh.sh $suite"
for tool in debootstrap unshare pivot_root git apt-get; do
    command -v "$tool" >/dev/null || fail "'$tool' is missing: apt-get install debootstrap util-linux git"
done
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck disable=SC2016 # apt-get fills in the word
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -v security | head -1)
[ -n "$mirror" ] || fail "apt knows no mirror here: apt-get update"

kept=${ROOT-}
root=$(realpath -m "${kept:-/var/tmp/roots/$suite.$$}")
mkdir -p "${root%/*}" || exit 1
child=
# The end of the first process in there ends all others; nothing of the root is mounted out here.
# shellcheck disable=SC2317 # called by trap
cleanup() {
    if [ -n "$child" ]; then
        kill -KILL "$child" 2>/dev/null
        wait "$child"
    fi
    rm -rf --one-file-system "$root.new"
    [ -n "$kept" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A command in the background of a script ignores INT; tests send it.
env --default-signal=INT,QUIT unshare --mount --pid --ipc --uts --fork --kill-child --mount-proc --propagation private \
    sh "$0" --inside "$suite" "$root" "$mirror" "file://$top" "$@" &
child=$!
wait "$child"
code=$?
child=
exit $code
