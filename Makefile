# mtlaunch: start, watch, explain and stop multi-node training over plain SSH.
# `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
CFLAGS  ?= -O2 -g
BUILD   ?= build
PKG_CONFIG ?= pkg-config
PYTHON  ?= python3

VERSION := 0.1.0
PACKAGES := libssh libuv yaml-0.1 jansson

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

LAYERS := base model input launcher node transport run report cmd

MT_CPPFLAGS := -D_GNU_SOURCE -DMTLAUNCH_VERSION='"$(VERSION)"' -Iinclude -Isrc $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
MT_CFLAGS   := -std=c11 $(WARNINGS) $(HARDEN) -MMD -MP
MT_LIBS     := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)

SOURCES  := $(foreach layer,$(LAYERS),$(wildcard src/$(layer)/*.c))
LIB_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out src/cmd/main.c,$(SOURCES))) $(BUILD)/node/script_text.o
LIBRARY  := $(BUILD)/libmtlaunch.a

UNIT_SOURCES := $(wildcard tests/unit/*/test_*.c)
UNIT_TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SOURCES))
CONTRACT_SOURCES := $(wildcard tests/contract/test_*.c)
CONTRACT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(CONTRACT_SOURCES))
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_REPLAYS := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/tests/fuzz/replay_%,$(FUZZ_SOURCES))
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/fuzz/fuzz_%,$(FUZZ_SOURCES))

.DEFAULT_GOAL := all
.PHONY: all
all: mtlaunch ## build ./mtlaunch

mtlaunch: $(BUILD)/cmd/main.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDHARDEN) $(LDFLAGS) -o $@ $^ $(MT_LIBS)

$(LIBRARY): $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

# The node's script, embedded: its parts in order, as an array of bytes.
NODE_SCRIPT := $(sort $(wildcard src/node/script/*.sh))
$(BUILD)/node/script_text.c: $(NODE_SCRIPT) src/node/embed.sh
	@mkdir -p $(@D)
	sh src/node/embed.sh $(NODE_SCRIPT) >$@.tmp && mv $@.tmp $@

$(BUILD)/node/script_text.o: $(BUILD)/node/script_text.c
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) -c -o $@ $<

# --- tests ---------------------------------------------------------------------------------------

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS) -lcmocka

$(BUILD)/tests/contract/%: tests/contract/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< $(LIBRARY) $(MT_LIBS) -lcmocka

$(BUILD)/tests/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(MT_CPPFLAGS) $(CPPFLAGS) $(MT_CFLAGS) $(CFLAGS) $(LDHARDEN) -o $@ $< tests/fuzz/replay.c $(LIBRARY) $(MT_LIBS)

.PHONY: unit
unit: $(UNIT_TESTS) ## unit tests (cmocka); UNIT=layer/name for one
	@sh tests/run_programs.sh $(if $(UNIT),$(BUILD)/tests/unit/$(UNIT),$(UNIT_TESTS))

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD) mtlaunch

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F '\t' '{printf "  %-12s %s\n", $$1, $$2}'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
