# mtlaunch: start, watch, explain and stop multi-node training over plain SSH.
# `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
CFLAGS  ?= -O2 -g
BUILD   ?= build
PKG_CONFIG ?= pkg-config
PYTHON  ?= python3

VERSION := 0.1.0
LINKED   := libssh libcrypto libuv yaml-0.1 jansson
PACKAGES := $(LINKED) libcurl libarchive # the last two are loaded when they are needed: include/base/library.h

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
            -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wnull-dereference \
            -Wswitch-enum -Wdouble-promotion -Wno-overlength-strings
ifdef WERROR
WARNINGS += -Werror
endif
ifdef CI
WARNINGS += -Werror
endif
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIE -D_FORTIFY_SOURCE=2
LDHARDEN := -pie -Wl,-z,relro,-z,now,-z,noexecstack
SANITIZE ?=
ifneq ($(SANITIZE),)
HARDEN   := -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
LDHARDEN := -fsanitize=$(SANITIZE)
endif

LAYERS := base model input launcher check insight node reach transport run report cmd

MT_CPPFLAGS := -D_GNU_SOURCE -DMTLAUNCH_VERSION='"$(VERSION)"' -Iinclude -Isrc $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
MT_CFLAGS   := -std=c11 $(WARNINGS) $(HARDEN) -MMD -MP
MT_LIBS     := $(shell $(PKG_CONFIG) --libs $(LINKED) 2>/dev/null) -ldl -lm

SOURCES  := $(foreach layer,$(LAYERS),$(wildcard src/$(layer)/*.c src/$(layer)/*/*.c))
MAINS    := src/cmd/main.c src/cmd/man_main.c
LIB_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out $(MAINS),$(SOURCES))) $(BUILD)/node/script_text.o \
               $(BUILD)/cmd/completion_text.o $(BUILD)/cmd/schema_text.o $(BUILD)/report/page_text.o
LIBRARY  := $(BUILD)/libmtlaunch.a

UNIT_SOURCES := $(wildcard tests/unit/*/test_*.c)
UNIT_TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SOURCES))
CONTRACT_SOURCES := $(wildcard tests/contract/test_*.c)
CONTRACT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(CONTRACT_SOURCES))
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_REPLAYS := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/tests/fuzz/replay_%,$(FUZZ_SOURCES))
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/fuzz/fuzz_%,$(FUZZ_SOURCES))

MANUALS := $(addprefix $(BUILD)/,mtlaunch.1 mtlaunch-job.5 mtlaunch-hosts.5)

.DEFAULT_GOAL := all
.PHONY: all
all: mtlaunch $(MANUALS) ## build ./mtlaunch and its manual pages

mtlaunch: $(BUILD)/cmd/main.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDHARDEN) $(LDFLAGS) -o $@ $^ $(MT_LIBS)

$(BUILD)/mtlaunch: $(BUILD)/cmd/main.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDHARDEN) $(LDFLAGS) -o $@ $^ $(MT_LIBS)

$(LIBRARY): $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

# The node's script, embedded: its parts in order, as an array of bytes.
NODE_SCRIPT := $(sort $(wildcard src/node/script/*.sh src/node/script/*.py)) $(sort $(wildcard src/check/*.sh))
$(BUILD)/node/script_text.c: $(NODE_SCRIPT) src/node/embed.sh
	@mkdir -p $(@D)
	sh src/node/embed.sh $(NODE_SCRIPT) >$@.tmp && mv $@.tmp $@

$(BUILD)/node/script_text.o: $(BUILD)/node/script_text.c
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

# The completion scripts and the JSON Schema, embedded; the manual pages, written by a program that knows the tables.
COMPLETIONS := $(addprefix src/cmd/completion/mtlaunch.,bash zsh fish)
$(BUILD)/cmd/completion_text.c: $(COMPLETIONS) src/cmd/completion/embed.sh
	@mkdir -p $(@D)
	sh src/cmd/completion/embed.sh $(COMPLETIONS) >$@.tmp && mv $@.tmp $@

$(BUILD)/cmd/completion_text.o: $(BUILD)/cmd/completion_text.c
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

SCHEMA := src/cmd/schema/mtlaunch.schema.json
$(BUILD)/cmd/schema_text.c: $(SCHEMA) src/cmd/schema/embed.sh
	@mkdir -p $(@D)
	sh src/cmd/schema/embed.sh $(SCHEMA) >$@.tmp && mv $@.tmp $@

$(BUILD)/cmd/schema_text.o: $(BUILD)/cmd/schema_text.c
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

# The style sheet and the script of the report's page, embedded with their digests.
PAGE := $(addprefix src/report/page/page.,css js)
$(BUILD)/report/page_text.c: $(PAGE) src/report/page/embed.sh
	@mkdir -p $(@D)
	sh src/report/page/embed.sh $(PAGE) >$@.tmp && mv $@.tmp $@

$(BUILD)/report/page_text.o: $(BUILD)/report/page_text.c
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/mtlaunch-man: $(BUILD)/cmd/man_main.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDHARDEN) $(LDFLAGS) -o $@ $^ $(MT_LIBS)

$(MANUALS): $(BUILD)/mtlaunch-man
	$(BUILD)/mtlaunch-man $(@F) >$@.tmp && mv $@.tmp $@

# --- tests ---------------------------------------------------------------------------------------

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) -Itests $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS) -lcmocka

$(BUILD)/tests/contract/%: tests/contract/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) -Itests $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS) -lcmocka

$(BUILD)/tests/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< tests/fuzz/replay.c $(LIBRARY) $(MT_LIBS)

# Test programs and pytest files side by side: tests/run.py. JOBS=n at a time.
TOOLS := $(BUILD)/tests/node/node_call $(BUILD)/tests/notify/notify_drive $(BUILD)/tests/cli/ssh_config_print
RUN_TESTS = BUILD='$(BUILD)' PYTEST='$(PYTEST_COMMAND)' $(TOOL_PATHS) $(PYTHON) tests/run.py $(if $(JOBS),-j $(JOBS))
TOOL_PATHS = NODE_CALL='$(abspath $(BUILD))/tests/node/node_call' NOTIFY_DRIVE='$(abspath $(BUILD))/tests/notify/notify_drive' \
	     SSH_CONFIG_PRINT='$(abspath $(BUILD))/tests/cli/ssh_config_print'

# The node's script: an item is an eighth of its tests under one shell. NODE_SHELLS says under which.
NODE_SHELLS := dash bash busybox
node_items = $(foreach sh,$(1),$(foreach slice,1/8 2/8 3/8 4/8 5/8 6/8 7/8 8/8,\
	     'NODE_SHELLS=$(sh) NODE_SLICE=$(slice) tests/node'))
PYTEST_ITEMS := $(wildcard tests/notify/test_*.py tests/cli/test_*.py)
# Files that take long are cut in slices, and begin first; those that need PyTorch from PyPI when it may be there.
E2E_LONG   := kill:4 push_relay:4 faults:3 start:3 stop:2 diagnose:4 exec:2 launchers:4 supervise:2 comm:2 container:2 ladder:2 \
	     push_property:2 sick_nodes:2
slices_of   = $(foreach k,$(wordlist 1,$2,1 2 3 4),'E2E_SLICE=$k/$2 tests/e2e/test_$1.py')
split       = $(call slices_of,$(word 1,$(subst :, ,$1)),$(word 2,$(subst :, ,$1)))
E2E_SLICES  = $(foreach long,$(E2E_LONG),$(call split,$(long)))
E2E_WHOLE   = $(filter-out $(foreach long,$(E2E_LONG),tests/e2e/test_$(firstword $(subst :, ,$(long))).py),$(wildcard tests/e2e/test_*.py))
E2E_ITEMS   = $(E2E_SLICES) $(E2E_WHOLE)

.PHONY: unit contract fuzz-replay node-test e2e lint
unit: $(if $(UNIT),$(BUILD)/tests/unit/$(UNIT),$(UNIT_TESTS)) ## unit tests (cmocka); UNIT=layer/name for one
	@$(RUN_TESTS) $^

contract: $(CONTRACT_TESTS) ## one suite against every transport
	@$(RUN_TESTS) $^

REPLAY_ITEMS = $(foreach replay,$(FUZZ_REPLAYS),'$(replay) tests/fuzz/corpus/$(replay:$(BUILD)/tests/fuzz/replay_%=%)')
fuzz-replay: $(FUZZ_REPLAYS) ## run the fuzz targets over their corpora
	@$(RUN_TESTS) $(REPLAY_ITEMS)

$(BUILD)/tests/node/%: tests/node/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS)

node-test: $(BUILD)/tests/node/node_call ## the node script under dash, bash and busybox; NODE_SHELLS=dash for one
	@$(RUN_TESTS) $(call node_items,$(NODE_SHELLS))

$(BUILD)/tests/notify/%: tests/notify/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS)

.PHONY: notify-test
notify-test: $(BUILD)/tests/notify/notify_drive ## notifications against real receivers
	@$(RUN_TESTS) $(wildcard tests/notify/test_*.py)

$(BUILD)/tests/cli/%: tests/cli/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS)

.PHONY: cli-test
cli-test: all $(BUILD)/tests/cli/ssh_config_print ## the binary alone: completion, manual, init, install; ssh_config
	@$(RUN_TESTS) $(wildcard tests/cli/test_*.py)

e2e: mtlaunch ## end-to-end tests on SSH nodes; E2E_FILES=…, E2E='-k start': by one pytest with these options
	@$(if $(E2E_FILES)$(E2E),$(PYTEST) $(or $(E2E_FILES),tests/e2e) $(E2E),$(RUN_TESTS) $(E2E_ITEMS))

lint: ## layers, sizes, format, clang-tidy, cppcheck, shellcheck, the lint rules' own tests
	@BUILD='$(BUILD)' PYTEST='$(PYTEST)' sh tests/lint/run.sh

# Debian's pytest goes with Debian's python; use the first python that has it.
PYTEST_COMMAND = $(firstword $(shell for p in $(PYTHON) /usr/bin/python3; do \
	   $$p -c 'import pytest' 2>/dev/null && echo $$p; done) $(PYTHON)) -m pytest -q
PYTEST = $(PYTEST_COMMAND) -o cache_dir=$(abspath $(BUILD))/pytest-$(or $(CACHE),all)

.PHONY: deps test check check-long asan coverage demo bench
deps: ## install what building, demo and tests need (apt-get)
	@sh tests/deps.sh build demo test

# They wait more than they compute.
test: JOBS ?= $(shell expr 4 '*' "$$(nproc)")
test: all $(UNIT_TESTS) $(CONTRACT_TESTS) $(FUZZ_REPLAYS) $(TOOLS) ## the quick tests: all but lint, e2e and the node's other shells
	@NODE_CASES=4 MTLAUNCH_LOOKS=3 SOAK_SECONDS=4 $(RUN_TESTS) $(call node_items,dash) $(CONTRACT_TESTS) $(UNIT_TESTS) $(REPLAY_ITEMS) $(PYTEST_ITEMS)

# What waits more than it computes, in one queue: the library under the sanitizers, the script under all shells, the nodes.
.PHONY: check-tests
ASAN_ITEMS = $(patsubst $(BUILD)/%,$(BUILD)/asan/%,$(UNIT_TESTS) $(CONTRACT_TESTS)) \
	     $(subst $(BUILD)/tests/,$(BUILD)/asan/tests/,$(REPLAY_ITEMS))
check-tests: JOBS ?= $(shell expr 4 '*' "$$(nproc)")
check-tests: all $(TOOLS)
	@$(RUN_TESTS) $(E2E_SLICES) $(ASAN_ITEMS) $(call node_items,$(NODE_SHELLS)) $(PYTEST_ITEMS) $(E2E_WHOLE)

check: ## everything that has to pass: lint, tests, sanitizers, end to end
	@sh tests/deps.sh build demo test
	+@sh tests/check.sh '$(MAKE)'

check-long: ## hours of chaos: fuzzing and kill matrix; MINUTES=60 SEED=n
	@sh tests/deps.sh build demo test
	@$(MAKE) --no-print-directory all fuzz $(BUILD)/tests/contract/test_soak
	+@BUILD='$(BUILD)' PYTEST='$(PYTEST)' MAKE='$(MAKE)' sh tests/check_long.sh '$(or $(MINUTES),60)' '$(SEED)'

.PHONY: fuzz fuzz-targets
# Built by clang, library and all: libFuzzer needs its instrumentation there.
fuzz: ## build the libFuzzer targets (clang)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzzing CC=clang CFLAGS='-O1 -g' \
	    SANITIZE=fuzzer-no-link,address,undefined fuzz-targets

fuzz-targets: $(FUZZ_TARGETS)

$(BUILD)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -fsanitize=fuzzer -o $@ $< $(LIBRARY) $(MT_LIBS)

ASAN := BUILD=$(BUILD)/asan SANITIZE=address,undefined CFLAGS='-O1 -g'
.PHONY: asan-programs
asan: ## unit, contract and fuzz corpora under ASan and UBSan
	@$(MAKE) --no-print-directory -k $(ASAN) $(BUILD)/asan/mtlaunch unit contract fuzz-replay

asan-programs:
	@$(MAKE) --no-print-directory -k $(ASAN) $(BUILD)/asan/mtlaunch \
	    $(patsubst $(BUILD)/%,$(BUILD)/asan/%,$(UNIT_TESTS) $(CONTRACT_TESTS) $(FUZZ_REPLAYS))

coverage: ## line coverage of the pure layers by unit tests and fuzz corpora
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage \
	    unit fuzz-replay >$(BUILD)/coverage.log 2>&1 || { tail -30 $(BUILD)/coverage.log; exit 1; }
	@$(PYTHON) tests/coverage.py $(BUILD)/coverage base model input launcher node reach

demo: ## four SSH nodes, a real torchrun all-reduce, stop, nothing left; KEEP=1 leaves the nodes up to play with
	@sh tests/deps.sh build demo
	@$(MAKE) --no-print-directory all
	@KEEP='$(KEEP)' sh tests/e2e/demo.sh ./mtlaunch

$(BUILD)/tests/bench/%: tests/bench/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS)

bench: mtlaunch $(addprefix $(BUILD)/tests/bench/,bench_fleet bench_patterns) $(BUILD)/tests/node/node_call ## exec and start beside pdsh and clush; a fault to its proven end beside torchrun; a run at rest; files beside rsync; a log beside grep; logs beside ssh
	@sh tests/deps.sh build test
	@$(PYTHON) tests/bench/scale.py ./mtlaunch $(BUILD)/tests/bench/bench_fleet $(BENCH_SCALE)
	@$(PYTHON) tests/bench/launch.py ./mtlaunch $(BENCH)
	@$(PYTHON) tests/bench/check.py ./mtlaunch $(BENCH_CHECK)
	@$(PYTHON) tests/bench/fault.py
	@$(PYTHON) tests/bench/rest.py ./mtlaunch $(BENCH_REST)
	@$(PYTHON) tests/bench/push.py ./mtlaunch $(BENCH_PUSH)
	@$(PYTHON) tests/bench/scan.py ./mtlaunch $(BUILD)/tests/bench/bench_patterns $(BENCH_SCAN)
	@$(PYTHON) tests/bench/logs.py ./mtlaunch $(BENCH_LOGS)
	@$(PYTHON) tests/bench/node.py $(BUILD)/tests/node/node_call
	@$(PYTHON) tests/bench/lists.py ./mtlaunch $(BENCH_LISTS)

# --- install, format, clean -------------------------------------------------------------------------

SHARE := $(PREFIX)/share
COMPLETION_BASH := bash-completion/completions/mtlaunch
COMPLETION_ZSH  := zsh/site-functions/_mtlaunch
COMPLETION_FISH := fish/vendor_completions.d/mtlaunch.fish

.PHONY: install uninstall format
install: all ## install to PREFIX (/usr/local), under DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 mtlaunch $(DESTDIR)$(PREFIX)/bin/mtlaunch
	install -d $(addprefix $(DESTDIR)$(SHARE)/,man/man1 man/man5 mtlaunch $(dir $(COMPLETION_BASH) $(COMPLETION_ZSH) $(COMPLETION_FISH)))
	install -m 644 $(filter %.1,$(MANUALS)) $(DESTDIR)$(SHARE)/man/man1
	install -m 644 $(filter %.5,$(MANUALS)) $(DESTDIR)$(SHARE)/man/man5
	install -m 644 $(SCHEMA) $(DESTDIR)$(SHARE)/mtlaunch
	install -m 644 src/cmd/completion/mtlaunch.bash $(DESTDIR)$(SHARE)/$(COMPLETION_BASH)
	install -m 644 src/cmd/completion/mtlaunch.zsh $(DESTDIR)$(SHARE)/$(COMPLETION_ZSH)
	install -m 644 src/cmd/completion/mtlaunch.fish $(DESTDIR)$(SHARE)/$(COMPLETION_FISH)

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/mtlaunch $(addprefix share/,$(addprefix man/man1/,$(notdir $(filter %.1,$(MANUALS)))) \
	    $(addprefix man/man5/,$(notdir $(filter %.5,$(MANUALS)))) mtlaunch/$(notdir $(SCHEMA)) \
	    $(COMPLETION_BASH) $(COMPLETION_ZSH) $(COMPLETION_FISH)))

format: ## reformat the C files in place
	clang-format -i $$(find src include tests -name '*.[ch]')

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD) mtlaunch

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F '\t' '{printf "  %-12s %s\n", $$1, $$2}'

-include $(shell find $(BUILD) -path $(BUILD)/asan -prune -o -path $(BUILD)/coverage -prune -o -path $(BUILD)/fuzzing -prune -o -name '*.d' -print 2>/dev/null)
