"""Host lists from the command line and files: what users of other launchers ran into."""
import pytest


def names(lab, *words, **options):
    return [h["name"] for h in lab.mt("hosts", *words, "--json", **options).json["hosts"]]


def ranks(lab, *words, **options):
    plan = lab.mt("start", "job.yaml", "r", "--dry-run", "--json", *words, **options).json
    return [n["host"] for n in plan["nodes"]]


def test_a_missing_host_file_is_an_error_and_never_a_local_run(lab):
    lab.job(hosts=None)
    for words, env in ((["--hostfile", "nofile"], {}), ([], {"MTLAUNCH_HOSTFILE": "nofile"})):
        assert "nofile" in lab.mt("hosts", *words, env=env, code=2).err
        assert "nofile" in lab.mt("start", "job.yaml", "r", *words, env=env, code=2).err
    lab.job(hosts=None, hostfile="nofile")
    lab.mt("start", "job.yaml", "r", code=2)
    assert not lab.left() and not lab.cluster.user_ps("head")
    lab.mt("status", "r", code=6)


def test_bad_lines_show_file_line_column_and_text(lab):
    lab.write("h", "x slots=8\nx2 lots=8\n")
    answer = lab.mt("hosts", "--hostfile", "h", code=2)
    assert "h:2:" in answer.err and "lots=8" in answer.err
    lab.write("h", "a slots=4\na slots=2\n")
    answer = lab.mt("hosts", "--hostfile", "h", code=2)
    assert "1" in answer.err and "h:2" in answer.err
    lab.write("h", "a\na\n")
    answer = lab.mt("hosts", "--hostfile", "h", "--json")
    assert len(answer.json["hosts"]) == 1 and "warning" in answer.err


@pytest.mark.parametrize("text,expected", [
    (b"a\nb", ["a", "b"]), (b"a slots=8\r\nb\r\n", ["a", "b"]), (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
    (b"# c\n\na # note\n\tb\tslots=8\n", ["a", "b"]), (b"c09\nc010\n", ["c09", "c010"]),
    (b"g[0033-0036]\n^g0034\n", ["g0033", "g0035", "g0036"]),
], ids=["no-newline", "crlf", "bom", "comments", "widths", "remove"])
def test_files(lab, text, expected):
    lab.write("h", text)
    assert names(lab, "--hostfile", "h") == expected


@pytest.mark.parametrize("text", ["x[45-33]", "x[36-40-44]", "x[]", "x[1-", "x[1-2]3[", "x[1-70000]", "a slots=0", "a slots=8x",
                                  "a slots = 8", "a@b@c", "a:8", "^a", "x[01-2]", "10.0.0.1-4", "-a"])
def test_refused(lab, text):
    lab.write("h", text + "\n")
    answer = lab.mt("hosts", "--hostfile", "h", code=2)
    assert "h:1" in answer.err


def test_the_order_is_the_lists_wherever_it_is_started_from(lab):
    lab.job(hosts="node1,head,node3,node2")
    assert ranks(lab) == ["node1", "head", "node3", "node2"]
    assert ranks(lab, "--exclude", "node1") == ["head", "node3", "node2"]
    assert ranks(lab, "--nodes", "2") == ["node1", "head"]
    assert ranks(lab, "-H", "node3,node1") == ["node3", "node1"]


def test_what_is_given_first_wins(lab):
    lab.write("f", "node2\n")
    lab.job(hosts="node1")
    lab.job("none.yaml", hosts=None)
    env = {"MTLAUNCH_HOSTFILE": "f", "SLURM_JOB_NODELIST": "node[3-4]"}
    assert ranks(lab, "-H", "node4", env=env) == ["node4"]
    assert ranks(lab, env=env) == ["node1"]

    def without(**values):
        plan = lab.mt("start", "none.yaml", "r", "--dry-run", "--json", env=values)
        return [n["host"] for n in plan.json["nodes"]], plan.err

    assert without(**env)[0] == ["node2"]
    assert without(SLURM_JOB_NODELIST="node[3-4]")[0] == ["node3", "node4"]
    hosts, said = without()
    assert len(hosts) == 1 and "no host list: running on this machine alone" in said


def test_local_is_decided_by_name_address_port_and_user(lab):
    def local(entry):
        return lab.mt("hosts", "-H", entry, "--json").json["hosts"][0]["local"]

    assert [local(e) for e in ("localhost", "127.0.0.1", "::1", "head", "10.77.0.254", "lab@head")] == [True] * 6
    assert [local(e) for e in ("node1", "head:2222", "root@head", "head ssh=always", "127.0.0.2", "127.10.0.1")] == [False] * 6


def test_one_local_host_and_no_sshd_runs_without_ssh(lab):
    lab.job(hosts="localhost", program="echo $MASTER_ADDR; exec true")
    assert lab.mt("start", "job.yaml", "r", "--wait").lines == ["localhost: 127.0.0.1"]


def test_loopback_master_with_more_than_one_node_is_refused(lab):
    lab.job(hosts="node1,node2")
    for address in ("localhost", "127.0.0.1", "::1"):
        lab.mt("start", "job.yaml", "r", "--master-addr", address, code=2)


def test_port_and_user_of_an_entry_are_used_by_every_command(make_lab):
    lab = make_lab(1)
    lab.cluster.exec("node1", "sed 's/^Port 22/Port 2222/;s/sshd.pid/sshd2.pid/' /run/lab/sshd_config >/tmp/c && "
                     "/usr/sbin/sshd -f /tmp/c", user=False, check=True)
    lab.cluster.stop_sshd("node1")
    lab.cluster.exec("node1", "/usr/sbin/sshd -f /tmp/c", user=False, check=True)
    known = lab.home / ".ssh/known_hosts"
    known.write_text(known.read_text().replace("node1,10.77.0.1", "[node1]:2222"))
    lab.job(hosts="lab@node1:2222", program="echo from 2222; exec sleep 600")
    lab.mt("start", "job.yaml", "r")
    assert lab.status("r")["state"] == "running"
    assert lab.mt("logs", "r").lines == ["node1: from 2222"]
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_folded_names(lab):
    assert lab.mt("hosts", "-H", "g[0033-0036],h1", "--fold").out.strip() == "g[0033-0036],h1"
