# shellcheck shell=sh disable=SC2154
# Facts: tool, the Python that was used; done=1; listens=1; master, next, previous: "ok", "refused", "timeout", "name" or "unreachable", where they
# were tried; from, until: when, in hundredths of a second since the checks began there. Every node listens for its neighbours and tries them at the same time; nothing is sent.
# Indentation does not travel to the nodes: each line begins with a bar.
mt_connect_program='
|import errno, selectors, socket, sys, time
|port, master, awaited, targets = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
|began = time.monotonic()
|kept, peers = [], set()
|sel = selectors.DefaultSelector()
|def listen(number):
|    infos = [(socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")]
|    for family, address in infos:
|        try:
|            s = socket.socket(family)
|            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
|            if family == socket.AF_INET6:
|                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
|            s.bind((address, number))
|            s.listen(4096)
|            s.setblocking(False)
|            sel.register(s, selectors.EVENT_READ, ("accept", number))
|            return True
|        except OSError as e:
|            if e.errno == errno.EADDRINUSE:
|                return number == master
|    return False
|ok = listen(port)
|if master:
|    ok = listen(master) and ok
|if ok:
|    print("listens 1", flush=True)
|WORDS = {errno.ECONNREFUSED: "refused", errno.ETIMEDOUT: "timeout"}
|todo = {}
|for line in targets.splitlines():
|    what, address, number = line.split()
|    todo[what] = (address, int(number))
|result = dict.fromkeys(todo, "timeout")
|tries = {}
|def begin(what):
|    address, number = todo[what]
|    try:
|        info = socket.getaddrinfo(address, number, type=socket.SOCK_STREAM)[0]
|    except OSError:
|        result[what] = "name"
|        return
|    s = socket.socket(info[0])
|    s.setblocking(False)
|    code = s.connect_ex(info[4])
|    if code not in (0, errno.EINPROGRESS):
|        result[what] = WORDS.get(code, "unreachable")
|        s.close()
|        return
|    sel.register(s, selectors.EVENT_WRITE, ("connect", what))
|    tries[what] = s
|again = dict.fromkeys(todo, 0.0)
|patience = min(awaited / 20, 20)  # many logins take their time
|while time.monotonic() - began < 10 + patience:
|    now = time.monotonic()
|    open_ = [w for w in todo if result[w] != "ok"]
|    for w in open_:
|        if w not in tries and now >= again[w]:
|            again[w] = now + 0.3
|            begin(w)
|    if not open_ and (now - began > 4 + patience or (len(peers) >= (awaited - 1 if master else 0) + (2 if awaited > 2 else 1))):
|        break
|    for key, _ in sel.select(0.1):
|        kind, what = key.data
|        s = key.fileobj
|        if kind == "accept":
|            try:
|                c, a = s.accept()
|                peers.add((what, a[0], a[1]))
|                kept.append(c)  # the other side closes first: the port is free again at once
|            except OSError:
|                pass
|            continue
|        code = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
|        sel.unregister(s)
|        s.close()
|        del tries[what]
|        result[what] = "ok" if code == 0 else WORDS.get(code, "unreachable")
|for what in todo:
|    print(what, result[what])
|print("done 1")
'
# A Python of the login, of the system, or of the job -> mt_python; fails when there is none
mt_find_python() {
    for mt_python in "$(command -v python3)" /usr/libexec/platform-python "$(cat "$mt_tmp/found.interpreter" 2>/dev/null)"; do
        case $mt_python in
        /*) ! "$mt_python" -c 'import selectors' </dev/null >/dev/null 2>&1 || return 0 ;;
        esac
    done
    return 1
}

mt_check_connect() {
    mt_find_python || return 0
    mt_frame tool "$mt_python"
    mt_read_clock
    mt_frame from "$((mt_clock - mt_began))"
    "$mt_python" -c "$(printf '%s' "$mt_connect_program" | sed 's/^|//')" "$mt_connect_port" "$mt_connect_master" "$mt_connect_awaited" "$mt_connect_targets" \
        >"$mt_tmp/connect" 2>/dev/null
    mt_read_clock
    mt_frame until "$((mt_clock - mt_began))"
    while read -r mt_key mt_value; do
        case $mt_key in
        listens | master | next | previous | done) mt_frame "$mt_key" "$mt_value" ;;
        esac
    done <"$mt_tmp/connect"
}
