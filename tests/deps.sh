#!/bin/sh
# Install what is missing for the named purposes: build, demo, test.
#   sh tests/deps.sh [--check] build demo test
# Each need is a probe and the Debian or Ubuntu package that satisfies it. Nothing runs when all is there.
# Root installs directly; others through sudo, on a terminal or with CI=true. --check only tells.
set -u

missing=
need() { # PACKAGE PROBE…: the package is missing when the probe fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() { command -v "$1" || [ -x "/usr/sbin/$1" ]; }
browser() { have chromium || have chromium-browser || have google-chrome; }
module() { pkg-config --exists "$@"; }
header() { printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" | cc -E -xc -; }
fuzzer() { printf 'int LLVMFuzzerTestOneInput(void){return 0;}' | clang -fsanitize=fuzzer,address -xc - -o /dev/null; }
torch() { "${DEMO_PYTHON:-/usr/bin/python3}" -c 'import torch.distributed.run'; }
# Debian's torch goes with Debian's python; elsewhere (no such package) a virtual environment holds one.
torch_packaged() { apt-cache show python3-torch; }
python_has() { python3 -c "import $1" || /usr/bin/python3 -c "import $1"; }

needs_build() {
    need gcc have cc
    need make have make
    need pkg-config have pkg-config
    need libssh-dev module 'libssh >= 0.10'
    need libssl-dev module libcrypto # libssh's
    need libuv1-dev module libuv
    need libyaml-dev module yaml-0.1
    need libjansson-dev module jansson
    need libarchive-dev module libarchive
    need libcurl4-openssl-dev module 'libcurl >= 7.66' # OpenSSL's, as libssh has it
}

needs_demo() {
    need openssh-server have sshd
    need openssh-client have ssh
    need iproute2 have ip
    need util-linux have setpriv
    need python3 have python3
    [ -x .venv/bin/python3 ] && DEMO_PYTHON=.venv/bin/python3
    need python3-torch torch
}

needs_test() {
    need libcmocka-dev header cmocka.h
    need clang have clang
    need libclang-rt-dev fuzzer
    need clang-format have clang-format
    need clang-tidy have clang-tidy
    need cppcheck have cppcheck
    need shellcheck have shellcheck
    need python3-pytest python_has pytest
    need python3-jsonschema python_has jsonschema
    need python3-yaml python_has yaml
    need python3-venv /usr/bin/python3 -c 'import ensurepip'
    need python3-pip /usr/bin/python3 -m pip --version
    need python3-setproctitle /usr/bin/python3 -c 'import setproctitle'
    need procps have ps
    need busybox have busybox
    need docker.io have dockerd
    need docker-cli have docker
    need dash have dash
    need zsh have zsh
    need fish have fish
    need tcsh have tcsh
    need pdsh have pdsh
    need clustershell have clush
    need rsync have rsync
    need openssl have openssl
    need prometheus have promtool
    need groff have groff
    need man-db have man
    need chromium browser
    need mandoc have mandoc
    need munge have munged
    need slurm-wlm have slurmctld
}

check=
[ "${1-}" = --check ] && { check=1; shift; }
for purpose in "$@"; do
    case $purpose in
    build | demo | test) "needs_$purpose" ;;
    *) echo "deps: unknown purpose '$purpose': build, demo or test" >&2; exit 2 ;;
    esac
done

missing=${missing# }
[ -n "$missing" ] || exit 0
[ -z "$check" ] || { echo "missing: $missing"; exit 1; }
if ! command -v apt-get >/dev/null; then
    echo "deps: no apt-get here; please install what these Debian packages hold: $missing" >&2
    exit 1
fi

sudo=
if [ "$(id -u)" != 0 ]; then
    if { [ -t 0 ] || [ "${CI-}" = true ]; } && command -v sudo >/dev/null; then
        sudo=sudo
    else
        echo "deps: not root; please run: apt-get install $missing" >&2
        exit 1
    fi
fi

run() { # show a command, then run it
    echo "+ $*"
    "$@"
}
run $sudo apt-get update -qq || exit 1
# The package of clang's run-time libraries carries clang's number.
clang_rt=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/libclang-rt-\1-dev/p')
missing=$(printf '%s\n' "$missing" | sed "s/libclang-rt-dev/${clang_rt:-clang}/")
# Debian 12's docker.io holds the client too.
apt-cache show docker-cli >/dev/null 2>&1 || missing=$(printf '%s\n' "$missing" | sed 's/docker-cli/docker.io/')
venv=
case " $missing " in
*" python3-torch "*)
    if ! torch_packaged >/dev/null 2>&1; then
        venv=1
        missing=$(printf '%s\n' "$missing" | sed 's/python3-torch/python3-venv/')
    fi
    ;;
esac
# shellcheck disable=SC2086 # a list of words
run $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing || exit 1
if [ -n "$venv" ]; then
    run python3 -m venv .venv || exit 1
    run .venv/bin/pip install -q --index-url https://download.pytorch.org/whl/cpu torch numpy || exit 1
fi
