#!/bin/bash
# Two SSH nodes of one GPU each on one machine with two GPUs: an sshd a GPU, each with its own
# CUDA_VISIBLE_DEVICES and NCCL_HOSTID, so that NCCL crosses sockets between them as on a cluster.
#   . tests/gpu/setup.sh DEBS     as root; DEBS holds the .deb files named in README.md
# Afterwards: HOME with key, known_hosts and ssh_config (hosts gpu0, gpu1), LD_LIBRARY_PATH for the libraries.
set -eu
debs=$1
root=/opt/d
mkdir -p "$root" /run/sshd /tmp/gpu
for deb in "$debs"/*.deb; do dpkg -x "$deb" "$root"; done
libs=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
id sshd >/dev/null 2>&1 || useradd -r -d /run/sshd -s /usr/sbin/nologin sshd

export HOME=/tmp/gpu/home
mkdir -p "$HOME/.ssh"
chmod 700 "$HOME" "$HOME/.ssh"
keygen=$root/usr/bin/ssh-keygen
[ -e "$HOME/.ssh/id_ed25519" ] || "$keygen" -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
[ -e /tmp/gpu/hostkey ] || "$keygen" -q -t ed25519 -N '' -f /tmp/gpu/hostkey
cp "$HOME/.ssh/id_ed25519.pub" /tmp/gpu/authorized_keys

: >"$HOME/.ssh/known_hosts"
: >"$HOME/.ssh/config"
for gpu in 0 1; do
    port=220$((gpu + 1))
    printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d' ' -f1,2 /tmp/gpu/hostkey.pub)" >>"$HOME/.ssh/known_hosts"
    printf 'Host gpu%s\n    HostName 127.0.0.1\n    Port %s\n    User root\n' "$gpu" "$port" >>"$HOME/.ssh/config"
    # One SetEnv line: sshd takes the first and passes over further ones.
    "$root/usr/sbin/sshd" -f /dev/null -h /tmp/gpu/hostkey -p "$port" -o ListenAddress=127.0.0.1 -o UsePAM=no \
        -o StrictModes=no -o AuthorizedKeysFile=/tmp/gpu/authorized_keys -o PermitRootLogin=yes \
        -o "PidFile=/tmp/gpu/sshd$gpu.pid" \
        -o "SetEnv=CUDA_VISIBLE_DEVICES=$gpu NCCL_HOSTID=gpu$gpu LD_LIBRARY_PATH=$LD_LIBRARY_PATH"
done
chmod 600 "$HOME/.ssh/config" "$HOME/.ssh/id_ed25519"
set +eu
