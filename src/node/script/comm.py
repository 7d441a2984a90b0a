# The program of the all-reduce test on a node: it reads orders, one JSON object per line, on standard input, and
# reports events in frames on descriptor 7. Every round runs in separate processes, so that one that hangs can be killed
# alone. Arguments: the nonce of the frames, and the number of seconds after which this program ends in any case.
import json
import os
import select
import signal
import sys
import tempfile
import time

MIB = 1 << 20
LARGEST = {"gloo": 32 * MIB, "nccl": 256 * MIB}
LINES_MAX = 40
LOG_MAX = 4 * MIB
# Lines in which NCCL reports its transport or a failure
MARKS = ("Using network", "NET/IB : Using", "NET/IB : No device", "NET/Socket : Using", "Bootstrap", " via NET/", "NCCL WARN",
         "NCCL version")
PLAIN = set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@+,-")


def say(event, **fields):
    text = json.dumps({"event": event, **fields}).encode()
    coded = "".join(chr(c) if c in PLAIN else "%%%02x" % c for c in text)
    os.write(7, f"\n@@{sys.argv[1]} comm={coded}\n".encode())


def explain(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:600]}"


def fork(work, log=None):
    """Run work in a process of its own; it may write to the pipe whose other end comes back with its pid."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return pid, ours
    os.close(ours)
    os.close(7)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    for number in (1, 2):
        os.dup2(log.fileno() if log else nothing, number)
    try:
        result = work(theirs)
    except BaseException as error:  # pylint: disable=broad-except
        result = {"error": explain(error)}
    if result is not None:
        os.write(theirs, json.dumps(result).encode() + b"\n")
    os._exit(0)


def end(processes):
    for pid, pipe in processes:
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(pipe)


def read_answers(processes, limit):
    """What each of them wrote, as far as it came within so many seconds: None for one that has not answered."""
    texts = {pipe: b"" for _, pipe in processes}
    waiting = set(texts)
    until = time.monotonic() + limit
    while waiting:
        ready = select.select(list(waiting), [], [], max(0, until - time.monotonic()))[0]
        if not ready:
            break
        for pipe in ready:
            part = os.read(pipe, 65536)
            texts[pipe] += part
            if not part or texts[pipe].endswith(b"\n"):
                waiting.discard(pipe)
    answers = []
    for pid, pipe in processes:
        try:
            answers.append(json.loads(texts[pipe]))
        except ValueError:
            answers.append(None if pipe in waiting else {"error": how_it_ended(pid)})
    return answers


def how_it_ended(pid):
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the process ended with status {os.WEXITSTATUS(status)}"


def count_gpus(_):
    import torch
    return {"gpus": torch.cuda.device_count() if torch.cuda.is_available() else 0}


def make_store(address, port, leads, limit):
    from datetime import timedelta
    from torch.distributed import TCPStore
    options = {"world_size": None, "is_master": leads, "timeout": timedelta(seconds=limit), "wait_for_workers": False}
    try:
        return TCPStore(address, port, **options)
    except RuntimeError as error:
        if "libuv" not in str(error):
            raise
        return TCPStore(address, port, use_libuv=False, **options)


def lead(order):
    """The store of a round: where its processes meet. It lives as long as this process."""
    def work(pipe):
        store = make_store(order["address"], 0, True, order["limit"])
        os.write(pipe, json.dumps({"port": store.port}).encode() + b"\n")
        time.sleep(order["limit"] + 60)
    return work


def measure(dist, torch, device, largest):
    """Seconds and bytes of one all-reduce, the same on all ranks."""
    def synchronize():
        if device.type == "cuda":
            torch.cuda.synchronize()

    def timed(tensor, count):
        synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            dist.all_reduce(tensor)
        synchronize()
        took = torch.tensor([(time.perf_counter() - begin) / count], dtype=torch.float64, device=device)
        dist.all_reduce(took, op=dist.ReduceOp.MAX)
        return max(took.item(), 1e-9)

    probe = torch.ones(MIB // 4, device=device)
    dist.all_reduce(probe)  # the connections are made
    synchronize()
    if not bool((probe == dist.get_world_size()).all()):
        raise ArithmeticError("the sum is wrong: data was damaged on its way")
    probe.zero_()
    seconds = timed(probe, 2)
    size = int(min(max(MIB * 0.1 / seconds, MIB), largest)) // 4 * 4
    data = torch.zeros(size // 4, device=device)
    seconds = timed(data, 1)
    seconds = timed(data, max(1, min(20, int(0.7 / seconds))))
    return {"seconds": seconds, "bytes": size}


def worker(order, local):
    def work(_):
        from datetime import timedelta
        import torch
        import torch.distributed as dist
        for name in list(os.environ):  # files of a run that there is not
            if name.startswith(("TORCH_FR_", "TORCH_NCCL_DEBUG_INFO", "TORCH_NCCL_DUMP", "TORCH_NCCL_TRACE", "NCCL_DEBUG")):
                del os.environ[name]
        os.environ.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT,NET,ENV")
        device = torch.device("cpu")
        if order["backend"] == "nccl":
            torch.cuda.set_device(local)
            device = torch.device("cuda", local)
        world, rank = order["nodes"] * order["processes"], order["node"] * order["processes"] + local
        limit = max(1.0, order["limit"] * 0.8)
        store = make_store(order["address"], order["port"], False, limit)
        dist.init_process_group(order["backend"], store=store, rank=rank, world_size=world, timeout=timedelta(seconds=limit))
        result = measure(dist, torch, device, LARGEST[order["backend"]])
        dist.barrier()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return result
    return work


def read_lines(log):
    """The lines of a worker's output that matter, each once whatever process or channel says it."""
    log.seek(0)
    lines = []
    for line in log.read(LOG_MAX).decode(errors="replace").splitlines():
        if any(mark in line for mark in MARKS) and len(lines) < LINES_MAX:
            lines.append(line[:300])
    log.close()
    return lines


def run_round(order):
    """One round on this node -> the process that holds its store, to be ended once the round is over everywhere."""
    holder = []
    began = time.monotonic()
    if order["node"] == 0:
        holder = [fork(lead(order))]
        answer = read_answers(holder, order["limit"])[0] or {"error": "no store within the time limit"}
        if "error" in answer:
            say("done", round=order["round"], error=answer["error"])
            return holder
        order["port"] = answer["port"]
        say("port", round=order["round"], port=answer["port"])
    logs = [tempfile.TemporaryFile() for _ in range(order["processes"])]
    workers = [fork(worker(order, local), logs[local]) for local in range(order["processes"])]
    answers = read_answers(workers, max(1.0, order["limit"] - (time.monotonic() - began)))
    end(workers)
    lines = [line for log in logs for line in read_lines(log)]
    late = [i for i, answer in enumerate(answers) if answer is None]
    errors = [answer["error"] for answer in answers if answer and "error" in answer]
    if errors or late:
        say("done", round=order["round"], lines=lines[:LINES_MAX], late=bool(late),
            error=errors[0] if errors else f"no all-reduce within {order['limit']} s")
    else:
        say("done", round=order["round"], lines=lines[:LINES_MAX], **answers[0])
    return holder


def main():
    signal.alarm(int(sys.argv[2]))
    try:
        import torch
        import torch.distributed as dist
        if not dist.is_available():
            raise ImportError("this torch is built without torch.distributed")
    except BaseException as error:  # pylint: disable=broad-except
        say("hello", error=explain(error))
        return
    counted = [fork(count_gpus)]
    answer = read_answers(counted, 60)[0] or {}
    end(counted)
    say("hello", torch=str(torch.__version__), gpus=answer.get("gpus", 0), nccl=dist.is_nccl_available(),
        interface=os.environ.get("GLOO_SOCKET_IFNAME"))
    holder = []
    for line in sys.stdin:
        order = json.loads(line)
        end(holder)
        holder = []
        if order["order"] == "end":
            break
        holder = run_round(order)
    end(holder)


main()
