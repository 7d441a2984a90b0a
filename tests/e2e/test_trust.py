"""Host keys, agents and keys as a user meets them: hosts --trust, accept-new, encrypted keys, the agent."""
import json
import os
import pty
import re
import subprocess
import time

import pytest


@pytest.fixture
def known(lab):
    """The head's known_hosts: emptied for the test, put back after it."""
    path = lab.cluster.head_home / ".ssh" / "known_hosts"
    text = path.read_text()
    path.write_text("")
    yield path
    path.write_text(text)


def fingerprints(text):
    return re.findall(r"^(\S+): (ssh-ed25519 SHA256:\S+)$", text, re.M)


def test_trust_shows_all_and_records_after_yes(lab, known):
    refused = lab.mt("hosts", "--trust", "-H", "node[1-3]", code=3, input="")
    shown = fingerprints(refused.out)
    assert shown and "--yes" in refused.err and known.read_text() == ""
    answer = lab.mt("hosts", "--trust", "--yes", "-H", "node[1-3]")
    assert fingerprints(answer.out) == shown and "added to" in answer.err
    assert len(known.read_text().splitlines()) == 3
    again = lab.mt("hosts", "--trust", "-H", "node[1-3]")
    assert again.out == "" and "no host has an unknown key" in again.err
    assert lab.mt("exec", "-H", "node[1-3]", "--", "true").code == 0


def test_trust_in_json_asks_nobody(lab, known):
    looked = lab.mt("hosts", "--trust", "--json", "-H", "node[1-3],nowhere.invalid", code=3).json
    assert looked["added"] == 0 and looked["error"]["kind"] == "hostkey-unknown" and known.read_text() == ""
    assert sorted(host for key in looked["keys"] for host in key["hosts"]) == ["node1", "node2", "node3"]
    assert all(key["fingerprint"].startswith("SHA256:") and key["file"] == str(known) for key in looked["keys"])
    assert [(e["kind"], e["hosts"]) for e in looked["errors"]] == [("name-not-resolved", ["nowhere.invalid"])]
    added = lab.mt("hosts", "--trust", "--yes", "--json", "-H", "node[1-3]").json
    assert (added["keys"], added["added"], added["error"]) == (looked["keys"], 3, None)
    assert lab.mt("hosts", "--trust", "--json", "-H", "node[1-3]").json["keys"] == []


@pytest.mark.parametrize("said, code, lines", [("yes\n", 0, 2), ("y\n", 0, 2), ("no\n", 3, 0), ("\n", 3, 0), ("\x04", 3, 0),
                                               ("\x03", 2, 0)])  # ended by SIGINT, as setsid says it; 130 in a shell
def test_trust_asks_on_a_terminal(lab, known, said, code, lines):
    head, own = pty.openpty()
    asked = lab.cluster.popen("setsid", "-c", "-w", "mtlaunch", "hosts", "--trust", "-H", "node[1-2]", stdin=own, stdout=own,
                              stderr=own)
    os.close(own)
    seen = ""
    while "yes or no" not in seen:
        seen += os.read(head, 4096).decode()
    assert fingerprints(seen.replace("\r", "")) and known.read_text() == ""
    os.write(head, said.encode())
    assert asked.wait(timeout=30) == code
    os.close(head)
    assert len(known.read_text().splitlines()) == lines


def test_trust_of_hosts_of_the_other_client(lab, known):
    """Their keys can't be shown here; whether they are known can be said."""
    config = known.with_name("config")
    config.write_text("Host node2\n    ProxyCommand no-such-program %h %p\n")
    assert "no-such-program: not found" in lab.mt("exec", "-H", "node2", "--", "true", code=3).err
    config.write_text("Host node2\n    BindAddress 10.77.0.254\n")
    try:
        answer = lab.mt("hosts", "--trust", "--yes", "-H", "node[1-2]", code=3)
        assert "node2: the host key is not known" in answer.err and "node2" not in answer.out
        assert [line.split()[0] for line in known.read_text().splitlines()] == ["node1"]
        key = (lab.cluster.etc("node2") / "host_key.pub").read_text().split()
        known.write_text(known.read_text().splitlines()[0] + f"\nnode2 {key[0]} {key[1]}\n")
        assert "no host has an unknown key" in lab.mt("hosts", "--trust", "-H", "node[1-2]").err
    finally:
        config.unlink()


def test_trust_behind_a_jump_that_lets_nobody_in(lab, known):
    config = known.with_name("config")
    lab.mt("hosts", "--trust", "--yes", "-H", "node1")
    write_key(lab, "stranger", "")
    config.write_text("Host node2\n    ProxyJump node1\nHost node1\n    IdentityFile ~/.ssh/stranger\n"
                      "    IdentitiesOnly yes\n")
    try:
        answer = lab.mt("hosts", "--trust", "--yes", "--json", "-H", "node2", code=3).json
    finally:
        config.unlink()
        for path in known.parent.glob("stranger*"):
            path.unlink()
    assert answer["keys"] == [] and answer["errors"][0]["kind"] == "auth-failed"
    assert "jump host 'node1'" in answer["errors"][0]["message"]


def test_unknown_keys_are_one_class_and_never_added(lab, known):
    answer = lab.mt("exec", "-H", "node1", "--json", "--", "true", code=3)
    assert "hostkey-unknown" in answer.out + answer.err
    plain = lab.mt("exec", "-H", "node[1-2]", "--", "true", code=3)
    assert "SHA256:" in plain.err and "hosts --trust" in plain.err and known.read_text() == ""


def test_a_changed_key_is_never_accepted(lab, known):
    known.write_text("")
    lab.mt("hosts", "--trust", "--yes", "-H", "node1")
    line = known.read_text().split()
    other = known.with_name("other")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    wrong = other.with_suffix(".pub").read_text().split()[1]
    for path in (other, other.with_suffix(".pub")):
        path.unlink()
    known.write_text(f"# one\n{line[0]} ssh-ed25519 {wrong}\n")
    answer = lab.mt("hosts", "--trust", "--yes", "-H", "node1", code=3)
    assert "line 2" in answer.err and "has changed" in answer.err
    assert wrong in known.read_text() and len(known.read_text().splitlines()) == 2


def test_another_home_is_one_for_both_clients(make_lab):
    """CI containers set HOME elsewhere; OpenSSH's client goes by the user database."""
    lab = make_lab(2)
    moved = lab.home / "elsewhere"
    moved.mkdir()
    (lab.home / ".ssh").rename(moved / ".ssh")
    (moved / ".ssh" / "config").write_text("Host node2\n    BindAddress 10.77.0.254\n")
    lab.cluster.own(moved)
    answer = lab.mt("exec", "-v", "-H", "node[1-2]", "--gather", "--", "echo in", env={"HOME": str(moved)})
    assert "node2: reached through the system's ssh" in answer.err and "node1: reached" not in answer.err
    assert "node[1-2] (2)" in answer.out


def test_trust_of_a_file_that_keeps_nothing(lab, known):
    config = known.with_name("config")
    config.write_text("Host node1\n    UserKnownHostsFile /dev/null\nHost node2\n    UserKnownHostsFile none\n")
    try:
        answer = lab.mt("hosts", "--trust", "--yes", "-H", "node[1-3]", code=3)
    finally:
        config.unlink()
    assert "node1: its key is not kept: '/dev/null'" in answer.err and "node2: the host key is not known" in answer.err
    assert [line.split()[0] for line in known.read_text().splitlines()] == ["node3"]


def test_trust_takes_a_key_of_another_type(lab, known):
    """ssh asks about it too; a key that differs in the same type is a changed one."""
    rsa = known.with_name("rsa")
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", str(rsa)], check=True)
    known.write_text("node1 " + rsa.with_suffix(".pub").read_text())
    rsa.unlink()
    rsa.with_suffix(".pub").unlink()
    assert "known is ssh-rsa" in lab.mt("exec", "-H", "node1", "--", "true", code=3).err
    lab.mt("hosts", "--trust", "--yes", "-H", "node1")
    lab.mt("exec", "-H", "node1", "--", "true")


def test_trust_of_a_job(lab, known):
    own = known.with_name("of_the_job")
    lab.job(hosts="node[1-2]", ssh={"known_hosts": str(own)})
    assert "hosts --trust with the same host list or job" in lab.mt("start", "job.yaml", "r", code=3).err
    lab.mt("hosts", "job.yaml", "--trust", "--yes")
    assert len(own.read_text().splitlines()) == 2 and known.read_text() == ""
    lab.mt("start", "job.yaml", "r")
    lab.mt("stop", "r")
    own.unlink()


def test_trust_with_few_open_files(lab, known):
    few = lab.cluster.run("sh", "-c", "ulimit -n 20; exec mtlaunch hosts --trust --yes -H node[1-4]")
    assert few.returncode == 0, few.stderr
    again = lab.cluster.run("sh", "-c", "ulimit -n 20; exec mtlaunch hosts --trust -H node[1-4]")
    assert "no host has an unknown key" in again.stderr, again.stderr


@pytest.mark.parametrize("missing", [False, True])
def test_accept_new_needs_no_place_to_write(make_lab, missing):
    """A ~/.ssh of others, as a mounted secret is, or none at all; what is asked to write says that it could not."""
    lab = make_lab(2)
    folder = lab.home / ".ssh"
    (folder / "known_hosts").unlink()
    folder.rename(lab.home / "keys")
    if not missing:
        folder.mkdir(0o755)  # root's
    ssh = {"host_key": "accept-new", "identity": str(lab.home / "keys" / "id_ed25519")}
    lab.job(hosts="node[1-2]", ssh=ssh | ({"known_hosts": str(lab.home / "no" / "known_hosts")} if missing else {}),
            program=["true"], launcher="script")
    lab.mt("start", "job.yaml", "r", "--wait")
    refused = lab.mt("hosts", "job.yaml", "--trust", "--yes", code=8)
    assert "cannot" in refused.err and "known_hosts" in refused.err
    assert not (lab.home / "no").exists()


def test_words_that_do_not_go_together(lab):
    assert "needs --trust" in lab.mt("hosts", "--yes", "-H", "node1", code=2).err
    assert "--fold" in lab.mt("hosts", "--fold", "--trust", "-H", "node1", code=2).err


def test_a_host_certificate_is_left_to_openssh(make_lab):
    """Only the certificate authority is known: what lets ssh in lets mtlaunch in."""
    lab = make_lab(2)
    known = lab.home / ".ssh" / "known_hosts"
    authority = lab.cluster.etc("node1") / "authority"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(authority)], check=True)
    subprocess.run(["ssh-keygen", "-q", "-s", str(authority), "-I", "node1", "-h", "-n", "node1",
                    str(lab.cluster.etc("node1") / "host_key.pub")], check=True)
    with open(lab.cluster.etc("node1") / "sshd_config", "a", encoding="ascii") as config:
        config.write("HostCertificate /run/lab/host_key-cert.pub\n")
    lab.cluster.stop_sshd("node1")
    lab.cluster.start_sshd("node1")
    others = [line for line in known.read_text().splitlines() if not line.startswith("node1")]
    key = authority.with_suffix(".pub").read_text().split()[1]
    known.write_text("\n".join(others + [f"@cert-authority node1,*.lab ssh-ed25519 {key}"]) + "\n")
    answer = lab.mt("exec", "-v", "-H", "node[1-2]", "--", "true")
    assert "node1: reached through the system's ssh" in answer.err and "certificate authority" in answer.err
    assert "node2: reached" not in answer.err
    known.write_text(known.read_text().replace(key, "A" * len(key)))
    assert lab.mt("exec", "-H", "node1", "--json", "--", "true", code=3).json["hosts"][0]["error"]["kind"].startswith("hostkey-")


def write_key(lab, name, passphrase):
    folder = lab.cluster.head_home / ".ssh"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(folder / name)], check=True)
    lab.cluster.own(folder / name, folder / f"{name}.pub")
    return (folder / f"{name}.pub").read_text()


@pytest.fixture
def locked(lab):
    """A key with a passphrase that node1 lets in, and a spec that names it."""
    public = write_key(lab, "locked", "secret")
    keys = lab.cluster.etc("node1") / "authorized_keys"
    text = keys.read_text()
    keys.write_text(text + public)
    lab.job(hosts="node1", ssh={"identity": "~/.ssh/locked"}, program=["true"], launcher="script")
    yield
    keys.write_text(text)
    for path in (lab.cluster.head_home / ".ssh").glob("locked*"):
        path.unlink()


@pytest.mark.parametrize("public", [True, False])
def test_an_encrypted_key_is_said_and_works_by_an_agent(lab, locked, public):
    """Eight others before it in the agent, and with or without its .pub: the named one is the one that is offered."""
    if not public:
        (lab.cluster.head_home / ".ssh" / "locked.pub").unlink()
    answer = lab.mt("start", "job.yaml", "r", "--wait", code=3, env={"SSH_AUTH_SOCK": ""}, input="")
    assert "is encrypted" in answer.err and "ssh-add" in answer.err
    script = (
        "eval $(ssh-agent -a $HOME/agent.sock) >/dev/null; for i in 1 2 3 4 5 6 7 8; do "
        "ssh-keygen -q -t ed25519 -N '' -f other; ssh-add -q other 2>/dev/null; rm other other.pub; done; "
        "printf '#!/bin/sh\\necho secret\\n' >$HOME/ask; chmod 700 $HOME/ask; "
        "SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force ssh-add -q ~/.ssh/locked </dev/null 2>/dev/null; "
        "mtlaunch start job.yaml r2 --wait; code=$?; kill $SSH_AGENT_PID; exit $code"
    )
    done = lab.cluster.run("sh", "-c", script, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_public_half_alone_is_no_usage_error(lab):
    """ssh_config may name it for an agent's key; the host has been asked, so it is no matter of words."""
    write_key(lab, "halved", "")
    folder = lab.cluster.head_home / ".ssh"
    (folder / "halved").unlink()
    (folder / "config").write_text("Host node1\n    IdentityFile ~/.ssh/halved\n    IdentitiesOnly yes\n")
    try:
        answer = lab.mt("exec", "-H", "node1", "--", "true", code=3)
    finally:
        (folder / "config").unlink()
        (folder / "halved.pub").unlink()
    assert "only the public half of the key" in answer.err and "ssh-add" in answer.err


@pytest.mark.parametrize("config", ["IdentityFile ~/.ssh/short", "CertificateFile ~/.ssh/short-cert.pub"])
def test_a_certificate_of_an_agents_key_is_left_to_openssh(make_lab, config):
    """Short-lived certificates: the file beside, the key in the agent alone."""
    lab = make_lab(1)
    folder = lab.home / ".ssh"
    write_key(lab, "authority", "")
    write_key(lab, "short", "")
    subprocess.run(["ssh-keygen", "-q", "-s", str(folder / "authority"), "-I", "lab", "-n", "lab", str(folder / "short.pub")],
                   check=True)
    (lab.cluster.etc("node1") / "trusted").write_text((folder / "authority.pub").read_text())
    with open(lab.cluster.etc("node1") / "sshd_config", "a", encoding="ascii") as sshd:
        sshd.write("TrustedUserCAKeys /run/lab/trusted\n")
    lab.cluster.stop_sshd("node1")
    lab.cluster.start_sshd("node1")
    (folder / "config").write_text(f"Host node1\n    {config}\n")
    for name in ("id_ed25519", "short-cert.pub"):
        lab.cluster.own(folder / name)
    script = ("eval $(ssh-agent -a $HOME/agent.sock) >/dev/null; cp ~/.ssh/short key; ssh-add -q key; "
              "rm key ~/.ssh/short ~/.ssh/id_ed25519; mtlaunch exec -v -H node1 -- echo in; code=$?; "
              "kill $SSH_AGENT_PID; exit $code")
    done = lab.cluster.run("sh", "-c", script)
    assert (done.returncode, done.stdout) == (0, "in\n"), done.stderr
    assert "whose key is the agent's" in done.stderr


@pytest.mark.parametrize("sshd, said", [
    ({"PubkeyAuthentication": "no", "PasswordAuthentication": "yes"}, "accepts no keys, only: password"),
    ({"PubkeyAuthentication": "no", "KbdInteractiveAuthentication": "yes", "UsePAM": "yes"},
     "accepts no keys, only: keyboard-interactive"),
    ({"PasswordAuthentication": "yes"}, "is refused; tried '"),
])
def test_a_password_is_never_asked_for(make_lab, sshd, said):
    """On a terminal, where somebody has typed already: it is all still there when the login has failed."""
    lab = make_lab(1)
    path = lab.cluster.etc("node1") / "sshd_config"
    kept = [line for line in path.read_text().splitlines() if line.split()[0] not in sshd]
    path.write_text("\n".join([f"{name} {value}" for name, value in sshd.items()] + kept) + "\n")
    if "PubkeyAuthentication" not in sshd:
        (lab.cluster.etc("node1") / "authorized_keys").write_text("")
    lab.cluster.stop_sshd("node1")
    lab.cluster.start_sshd("node1")
    head, own = pty.openpty()
    os.write(head, b"secret\n")
    begin = time.monotonic()
    asked = lab.cluster.popen("setsid", "-c", "-w", "mtlaunch", "exec", "-H", "node1", "--json", "--", "true", stdin=own,
                              stderr=own)
    out = asked.communicate(timeout=30)[0]
    assert asked.returncode == 3 and time.monotonic() - begin < 8
    error = json.loads(out)["hosts"][0]["error"]
    assert error["kind"] == "auth-failed" and said in error["message"], error
    assert ("PubkeyAuthentication" in error["hint"]) == ("PubkeyAuthentication" in sshd)
    assert os.read(own, 100) == b"secret\n"
    os.close(own)
    os.close(head)


def test_a_missing_identity_is_a_usage_error(lab):
    lab.job(hosts="node1", ssh={"identity": "~/.ssh/nope"}, program=["true"], launcher="script")
    answer = lab.mt("start", "job.yaml", "r", code=2)
    assert f"{lab.cluster.head_home}/.ssh/nope" in answer.err


# --- keys that nobody verifies (S12) ---

@pytest.fixture
def careless(lab):
    """ssh_config takes any key and keeps none."""
    path = lab.cluster.head_home / ".ssh" / "config"
    text = path.read_text() if path.exists() else None
    path.write_text("Host node*\n  UserKnownHostsFile /dev/null\n  GlobalKnownHostsFile /dev/null\n"
                    "  StrictHostKeyChecking no\n" + (text or ""))
    yield path
    if text is None:
        path.unlink()
    else:
        path.write_text(text)


@pytest.mark.parametrize("client", ["builtin", "openssh"])
def test_hosts_whose_keys_nobody_verifies_are_named_once(lab, careless, client):
    lab.job("r.yaml", hosts="node[1-4]", program="sleep 300", ssh={"client": client})
    warning = ("mtlaunch: warning: host keys are not verified for node[1-4]: ssh_config takes any key, and '/dev/null'"
               " keeps none")
    for words in (["exec", "-H", "node[1-4]", "--", "true"], ["start", "r.yaml", "r", "--no-supervise"], ["status", "r"],
                  ["logs", "r"], ["stop", "r", "--grace", "1s"]):
        answer = lab.mt(*words)
        assert answer.err.splitlines().count(warning) == 1 and answer.err.count("not verified") == 1, answer


def test_known_keys_are_verified_wherever_new_ones_go(lab, careless):
    known = lab.cluster.head_home / ".ssh" / "known_hosts"
    careless.write_text(careless.read_text().replace("GlobalKnownHostsFile /dev/null", f"GlobalKnownHostsFile {known}"))
    assert "not verified" not in lab.mt("exec", "-H", "node[1-4]", "--", "true").err
    careless.write_text("Host node*\n  StrictHostKeyChecking no\n")
    assert "not verified" not in lab.mt("exec", "-H", "node[1-4]", "--", "true").err


def test_trust_adds_nothing_to_a_file_that_keeps_nothing(lab, careless):
    answer = lab.mt("hosts", "--trust", "--yes", "-H", "node[1-2]", code=3)
    assert "node[1-2]: its key is not kept: '/dev/null' stores nothing" in answer.err
    assert "added" not in answer.err and "UserKnownHostsFile" in answer.err
    answer = lab.mt("hosts", "--trust", "--yes", "--json", "-H", "node1", code=3).json
    assert answer["added"] == 0 and answer["keys"] == []


def test_trust_counts_the_lines_it_has_added(lab, known):
    """U20: node1 is listed under two ports' worth of names, but its line is written once."""
    config = lab.cluster.head_home / ".ssh" / "config"
    text = config.read_text() if config.exists() else None
    config.write_text("Host node1 node2\n  HostKeyAlias twins\n" + (text or ""))
    try:
        again = lab.mt("hosts", "--trust", "--yes", "-H", "node1,root@node1,node3")
        lines = len(known.read_text().splitlines())
        assert f"{lines} host keys added to" in again.err and lines == 2
    finally:
        config.unlink() if text is None else config.write_text(text)
