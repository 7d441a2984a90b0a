#!/bin/sh
# All lint: house rules and their self-tests, format, clang-tidy, cppcheck, shellcheck, Python syntax.
# Environment: BUILD, PYTEST (as the Makefile sets them); LINT_NODES: how far clang's analyzer follows a function, 225000 by
# default there. A third of it takes 0.4 of the time, which is nine tenths of all lint; make check-long takes all of it.
# shellcheck disable=SC2317 # the functions are called by name, through step
set -u
build=${BUILD:-build}
failed=0
step() {
    name=$1
    shift
    if "$@"; then
        echo "lint: $name: ok"
    else
        echo "lint: $name: FAILED"
        failed=1
    fi
}

sources() { find src -name '*.c' | sort; }
c_files() { find src include tests -name '*.[ch]' | sort; }
scripts() { { find src tests examples -name '*.sh' -o -name '*.bash'; echo .ci/run; } | sort; }

# Only the names: make format does the rest.
format() {
    wrong=$(for file in $(c_files); do clang-format --dry-run -Werror "$file" 2>/dev/null || echo "    $file"; done)
    [ -z "$wrong" ] || { printf 'not as make format leaves them:\n%s\n' "$wrong"; return 1; }
}

# A file is looked at again only when it, a header or the configuration has changed since it passed.
tidy_one() {
    stamp=$build/tidy/$1.ok
    if [ -e "$stamp" ] && [ -z "$(find "$1" .clang-tidy -newer "$stamp")" ] &&
        [ -z "$(find src include -name '*.h' -newer "$stamp")" ]; then
        return 0
    fi
    mkdir -p "${stamp%/*}"
    # shellcheck disable=SC2046 # flags are words
    clang-tidy --quiet "$1" -- -std=c11 -D_GNU_SOURCE '-DMTLAUNCH_VERSION="lint"' -Iinclude -Isrc \
        -Xclang -analyzer-config -Xclang "max-nodes=${LINT_NODES:-75000}" \
        -Wall -Wextra -Wshadow -Wdouble-promotion -Wno-missing-field-initializers \
        $(pkg-config --cflags libssh libuv yaml-0.1 jansson libcurl) 2>"$stamp.err" && : >"$stamp" && return 0
    grep -v -e 'warnings generated' -e 'warnings treated' "$stamp.err" >&2
    return 1
}
tidy() { sources | xargs -P "$(nproc)" -n 4 sh "$0" --tidy; }

cpp() {
    # shellcheck disable=SC2046
    cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j "$(nproc)" -Iinclude -Isrc -D_GNU_SOURCE \
        '-DMTLAUNCH_VERSION="lint"' --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=normalCheckLevelMaxBranches $(sources)
}

shell() { scripts | xargs shellcheck; }

python() {
    find tests examples -name '*.py' | while read -r file; do
        python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file" || exit 1
    done
}

if [ "${1-}" = --tidy ]; then
    shift
    status=0
    for file in "$@"; do tidy_one "$file" || status=1; done
    exit $status
fi

step rules python3 tests/lint/rules.py
# PYTEST holds a command and its options.
# shellcheck disable=SC2086
step "rules' own tests" ${PYTEST:-python3 -m pytest -q} tests/lint
step clang-format format
step clang-tidy tidy
step cppcheck cpp
step shellcheck shell
step python python
exit $failed
