# Sundew: one non-recursive build.
#
#   make            the tool, at build/sundew
#   make demo       sundew check on examples/, and the report
#   make check      all tests
#   make check-asan the same under the address and undefined-behaviour sanitizers
#   make check-tsan what has threads, under the thread sanitizer
#   make fuzz       readers of files and messages, 100,000 damaged inputs each (RUNS=, READERS=)
#   make soak       long tests;  make bench: benchmarks against real programs
#   make install    PREFIX=/usr/local DESTDIR=
#
# Variables: CC, CFLAGS, BUILD (build folder), SAN=1 (sanitizers), TSAN=1 (that of threads),
# FUZZ=1 (sanitizers, libFuzzer, coverage), WERROR=1.
# Missing Debian packages are installed first; NODEPS=1 leaves that out.

BUILD   ?= $(if $(SAN),build-asan,$(if $(TSAN),build-tsan,$(if $(FUZZ),build-fuzz,build)))
PREFIX  ?= /usr/local
LLVM    ?= /usr/lib/llvm-19
VERSION := $(shell cat VERSION)

CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           $(if $(WERROR),-Werror)
ifdef SAN
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
            -fno-omit-frame-pointer
endif
ifdef TSAN
SANFLAGS := -fsanitize=thread -fno-omit-frame-pointer
endif
ifdef FUZZ
override CC := $(LLVM)/bin/clang
SANFLAGS := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined \
            -fno-omit-frame-pointer -fprofile-instr-generate -fcoverage-mapping
endif
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -Isrc -I. -I$(LLVM)/include \
             -DSUNDEW_VERSION='"$(VERSION)"' -DSUNDEW_DOCS_URL='"$(DOCS_URL)"' -DSUNDEW_LLVM='"$(LLVM)"' \
             $(WARN) $(CFLAGS) $(SANFLAGS) -fPIC -MMD -MP
LIBS    = -L$(LLVM)/lib -Wl,-rpath,$(LLVM)/lib -lLLVM-19 -lclang-19 \
          -lz3 -lsqlite3 -lffi -ljansson -lseccomp -lpthread -lm \
          $(shell test -e /usr/include/pg_query.h && echo -lpg_query)
# A quick linker where there is one: every unit test is linked with the whole tool.
FASTLD  := $(if $(wildcard $(LLVM)/bin/ld.lld),-B$(LLVM)/bin -fuse-ld=lld)
CC_LIBS = -ljansson -lm
RUN_LIBS = -ljansson -lseccomp -lm

# All cores, unless the caller says otherwise.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

# One short line a file; V=1 shows the commands.
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '%-5s %s\n' '$(1)' '$(2)')

# ---- what there is

# sundew-cc starts once for every compiler call of a build: it is a program of
# its own, of these rooms only, because loading LLVM takes longer than most
# compilations.
light_src := $(wildcard src/base/*.c src/capture/*.c)
all_src   := $(sort $(shell find src -name '*.c' ! -path 'src/cli/*'))
cli_src   := $(wildcard src/cli/*.c)
cc_main   := src/capture/main_cc.c
run_main  := src/run/main_run.c
# The files of sundew-play, which are in no other program.
play_src  := $(wildcard src/engine/play/player/*.c)
light_src := $(filter-out $(cc_main),$(light_src))
all_src   := $(filter-out $(cc_main) $(run_main) $(play_src),$(all_src))
# sundew-run lives inside the sandbox and forks for every run: also small.
run_src   := $(wildcard src/base/*.c src/run/*.c)
unit_src  := $(wildcard tests/unit/test_*.c)
# PHP applications: libraries that read HTML, and PHP's headers, where they are
# (tools/install-deps web). Without them `sundew web` says what to install.
web_html  := src/web/html.c src/web/page.c
web_libs  := $(if $(and $(wildcard /usr/include/tidy/tidy.h),$(wildcard /usr/include/gumbo.h)),-ltidy -lgumbo)
all_src   := $(filter-out $(if $(web_libs),src/web/without_html.c,$(web_html)),$(all_src))
LIBS      += $(web_libs)
PHP_INCLUDES := $(shell php-config8.2 --includes 2>/dev/null)
php_so    := $(if $(PHP_INCLUDES),$(BUILD)/php/sundew.so) $(BUILD)/php/still.so $(BUILD)/php/compared.so
# A runtime is what is linked into one kind of subject, as bitcode: folders of
# runtime/, and single files of others.
rt_src      = $(foreach p,$(1),$(if $(wildcard runtime/$(p).c),$(p),\
              $(patsubst runtime/%.c,%,$(wildcard runtime/$(p)/*.c))))
rt_monitor    := $(call rt_src,heap monitor crash)
rt_record     := $(call rt_src,heap record)
rt_forkserver := $(call rt_src,server/forkserver)
rt_tags       := $(call rt_src,tags heap/pages)
rt_concolic   := $(call rt_src,concolic heap/pages)
rt_coverage   := $(call rt_src,server/forkserver server/batch server/compared server/snapshot)
rt_input      := $(call rt_src,input)
rt_clock      := $(call rt_src,clock)
rt_schedule   := $(filter-out schedule/probe,$(call rt_src,schedule heap/pages))
rt_probe      := $(call rt_src,schedule/probe)
rt_cover      := $(call rt_src,server/cover)
rt_calls      := $(call rt_src,calls)
# Library functions, woven with the program: as simple as the program's own bitcode.
rt_standins   := $(call rt_src,standins)
# Events: the build that follows one, and the build that watches accesses.
rt_events     := $(call rt_src,events events_follow)
# Functions that wait for an event: woven with the program, as stand-ins are.
rt_adapters   := $(call rt_src,adapters)
rt_watched    := $(call rt_src,events events_watch heap/pages)
rt_watch      := $(call rt_src,watch heap/pages)
runtimes   := monitor record forkserver tags concolic input standins coverage cover clock schedule probe calls watch events watched adapters
rt_headers := $(wildcard runtime/*/*.h)
runtime_bc := $(patsubst %,$(BUILD)/runtime/%.bc,$(runtimes))
# Runtimes of which nothing is inlined: compiled once, here, and linked as they are.
runtime_o  := $(patsubst %,$(BUILD)/runtime/%.o,schedule forkserver)
rt_parts    = $(patsubst %,$(BUILD)/runtime/parts/%.bc,$(1))
obj        = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
unit_bin  := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(unit_src))
tool_src  := $(wildcard tests/tools/*.c)
fuzz_src  := $(wildcard tests/fuzz/*.c)
tool_bin  := $(patsubst tests/tools/%.c,$(BUILD)/tests/%,$(tool_src))

.PHONY: all
all: $(BUILD)/sundew $(BUILD)/sundew-cc $(BUILD)/sundew-run $(BUILD)/sundew-play $(runtime_bc) $(runtime_o) $(php_so)

$(BUILD)/libsundew.a: $(call obj,$(all_src))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcsT $@ $^

$(BUILD)/liblight.a: $(call obj,$(light_src))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcsT $@ $^

$(BUILD)/sundew: $(call obj,$(cli_src)) $(BUILD)/libsundew.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(FASTLD) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/sundew-cc: $(call obj,$(cc_main)) $(BUILD)/liblight.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(CC_LIBS)

$(BUILD)/sundew-run: $(call obj,$(run_src))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(RUN_LIBS)

# Loads the library under test and forks for every sequence: small, and never
# with a sanitizer of its own, because the library may bring one.
$(BUILD)/sundew-play: $(patsubst %.c,$(BUILD)/obj/plain/%.o,$(play_src) runtime/server/forkserver.c)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $^ -lffi -ldl

$(BUILD)/obj/%.o: %.c Makefile VERSION | deps-build
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# SQL is parsed by libpg_query where it is installed. The stamp changes when it
# comes or goes, and sql.c is compiled again.
$(BUILD)/has-pg-query: FORCE | deps-build
	@mkdir -p $(@D)
	@test -e /usr/include/pg_query.h && s=yes || s=no; \
	echo $$s | cmp -s - $@ || echo $$s >$@
$(BUILD)/obj/src/dataflow/sql.o: $(BUILD)/has-pg-query
.PHONY: FORCE
FORCE:

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libsundew.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(FASTLD) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

# What is linked into subjects. With the same clang as the bitcode of subjects,
# whatever CC is.
RT_CLANG = $(LLVM)/bin/clang -std=gnu17 -D_GNU_SOURCE -I. -fPIC -fvisibility=hidden \
           -fno-stack-protector -fno-exceptions -fasynchronous-unwind-tables $(WARN) -emit-llvm

$(BUILD)/runtime/parts/%.bc: runtime/%.c $(rt_headers) Makefile | deps-build
	@mkdir -p $(@D)
	$(call say,RT,$<)
	$(Q)$(RT_CLANG) -O2 $(RT_FRAMES) -c -o $@ $<
# The sanitizer's stacks go through functions that stand between the program and free().
$(BUILD)/runtime/parts/schedule/%.bc: RT_FRAMES = -fno-omit-frame-pointer

# What is woven with the program, as simple as the program's own bitcode.
RT_WOVEN = $(RT_CLANG) -O1 -g1 -fno-builtin -fno-math-errno -fno-vectorize -fno-slp-vectorize \
           -fno-unroll-loops -fno-inline -U_FORTIFY_SOURCE

$(BUILD)/runtime/parts/standins/%.bc: runtime/standins/%.c $(rt_headers) Makefile | deps-build
	@mkdir -p $(@D)
	$(call say,RT,$<)
	$(Q)$(RT_WOVEN) -c -o $@ $<

$(BUILD)/runtime/parts/adapters/%.bc: runtime/adapters/%.c $(rt_headers) Makefile | deps-build
	@mkdir -p $(@D)
	$(call say,RT,$<)
	$(Q)$(RT_WOVEN) -c -o $@ $<

.SECONDEXPANSION:
$(runtime_bc): $(BUILD)/runtime/%.bc: $$(call rt_parts,$$(rt_$$*))
	$(call say,LINK,$@)
	$(Q)$(LLVM)/bin/llvm-link -o $@ $^
$(runtime_o): %.o: %.bc
	$(call say,RT,$@)
	$(Q)$(LLVM)/bin/clang -O2 -fPIC -c -o $@ $<

# The runtime as it is, with tables written by hand; without sanitizers, whose
# handlers and stacks would be tested instead of ours.
$(BUILD)/obj/plain/%.o: %.c $(rt_headers) Makefile | deps-build
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -I. -Isrc $(WARN) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<

# The extension is loaded into PHP: without sanitizers, as PHP itself is.
php_obj := $(patsubst php/%.c,$(BUILD)/php/%.o,$(filter-out php/still.c php/compared.c,$(wildcard php/*.c)))
$(BUILD)/php/%.o: php/%.c $(wildcard php/*.h) Makefile
	@mkdir -p $(@D)
	$(call say,PHP,$<)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -DCOMPILE_DL_SUNDEW -I. $(PHP_INCLUDES:-I%=-isystem %) \
	    $(WARN) -O2 -g -fPIC -fvisibility=hidden -c -o $@ $<

$(BUILD)/php/sundew.so: $(php_obj) $(BUILD)/obj/plain/runtime/server/forkserver.o
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $^

# These are preloaded. The comparisons must stay calls: no builtin, not even of themselves.
$(BUILD)/php/still.so $(BUILD)/php/compared.so: $(BUILD)/php/%.so: php/%.c $(wildcard php/*.h) Makefile
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -fno-builtin -fPIC -shared -o $@ $<

$(BUILD)/tests/test_monitor_rt: $(patsubst %.c,$(BUILD)/obj/plain/%.o,\
                                  tests/unit/test_monitor_rt.c $(patsubst %,runtime/%.c,$(rt_monitor)))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lpthread

$(BUILD)/tests/test_tags: $(patsubst %.c,$(BUILD)/obj/plain/%.o,\
                            tests/unit/test_tags.c $(patsubst %,runtime/%.c,$(rt_tags)))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lpthread

# Sequences on several threads of one process: the player without its main().
$(BUILD)/tests/test_player: $(patsubst %.c,$(BUILD)/obj/plain/%.o,\
                              tests/unit/test_player.c $(filter-out %/main_play.c,$(play_src)))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $^ -lcmocka -lffi -lpthread -ldl

# The concolic runtime against the solver's meaning of what it wrote.
$(BUILD)/tests/test_concolic_rt: $(call obj,tests/unit/test_concolic_rt.c \
                                   $(patsubst %,runtime/%.c,$(filter-out %/sources,$(rt_concolic)))) \
                                 $(BUILD)/libsundew.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(FASTLD) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

$(BUILD)/tests/test_standins: $(patsubst %.c,$(BUILD)/obj/plain/%.o,\
                              tests/unit/test_standins.c $(patsubst %,runtime/%.c,$(rt_standins)))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lm
$(BUILD)/obj/plain/runtime/standins/%.o: CFLAGS += -fno-builtin -fno-math-errno

$(BUILD)/tests/%: $(BUILD)/obj/tests/tools/%.o $(BUILD)/libsundew.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(FASTLD) $(LDFLAGS) -o $@ $^ $(LIBS)

# Readers that get damaged input: by itself, or with libFuzzer's main() in FUZZ=1.
$(call obj,$(fuzz_src)): override CFLAGS += $(if $(FUZZ),-DSUNDEW_FUZZ)
$(BUILD)/tests/fuzz: $(call obj,$(fuzz_src)) $(BUILD)/libsundew.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) $(FASTLD) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

-include $(if $(wildcard $(BUILD)/obj),$(shell find $(BUILD)/obj -name '*.d'))

.PHONY: deps-build deps-check deps-bench
deps-build:
	@$(if $(NODEPS),:,tools/install-deps build)
deps-check:
	@$(if $(NODEPS),:,tools/install-deps build check php)
deps-bench:
	@$(if $(NODEPS),:,tools/install-deps build check php bench)

# ---- what one does with it

.PHONY: demo
demo: all
	examples/demo $(BUILD)/sundew

$(call obj,$(unit_src)): | deps-check
$(BUILD)/tests/test_run $(BUILD)/tests/test_schedule: | $(BUILD)/sundew-run
$(BUILD)/tests/test_sequence $(BUILD)/tests/test_generate: | $(BUILD)/sundew-run $(BUILD)/sundew-play

.PHONY: tests check check-asan check-tsan fuzz soak bench
tests: all $(unit_bin) $(tool_bin) $(BUILD)/tests/fuzz

check: | deps-check
	@$(MAKE) --no-print-directory tests
	tests/run $(BUILD) $(TESTS)

check-asan:
	@$(MAKE) --no-print-directory check SAN=1

# Two jobs each; TESTS adds others.
check-tsan:
	@$(MAKE) --no-print-directory check TSAN=1 TESTS='$(or $(TESTS),threads.sh test_front test_solve test_run)'

fuzz: | deps-check
	@$(MAKE) --no-print-directory FUZZ=1 CFLAGS='-O1 -g' build-fuzz/tests/fuzz
	tests/fuzz/run build-fuzz $(or $(RUNS),100000) $(READERS)

soak: | deps-check
	@$(MAKE) --no-print-directory tests
	tests/run $(BUILD) soak

bench: all | deps-bench
	@for b in bench/*; do \
	    if [ -x "$$b" ] && [ -f "$$b" ]; then echo "== $$b"; "$$b" || exit 1; fi; \
	done

.PHONY: install uninstall
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/sundew \
	    $(DESTDIR)$(PREFIX)/share/man/man1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	    $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install $(BUILD)/sundew $(DESTDIR)$(PREFIX)/bin/sundew
	install $(BUILD)/sundew-cc $(DESTDIR)$(PREFIX)/lib/sundew/sundew-cc
	install $(BUILD)/sundew-run $(DESTDIR)$(PREFIX)/lib/sundew/sundew-run
	install $(BUILD)/sundew-play $(DESTDIR)$(PREFIX)/lib/sundew/sundew-play
	ln -sf ../lib/sundew/sundew-cc $(DESTDIR)$(PREFIX)/bin/sundew-cc
	cp -r share $(DESTDIR)$(PREFIX)/lib/sundew/
	install -d $(DESTDIR)$(PREFIX)/lib/sundew/runtime
	install -m 644 $(runtime_bc) $(runtime_o) $(DESTDIR)$(PREFIX)/lib/sundew/runtime
	if [ -n "$(php_so)" ]; then install -d $(DESTDIR)$(PREFIX)/lib/sundew/php && \
	    install -m 644 $(php_so) $(DESTDIR)$(PREFIX)/lib/sundew/php; fi
	$(BUILD)/sundew help --man-pages $(DESTDIR)$(PREFIX)/share/man/man1
	$(BUILD)/sundew help --completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/sundew
	$(BUILD)/sundew help --completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_sundew
	$(BUILD)/sundew help --completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sundew.fish

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/lib/sundew
	rm -f $(DESTDIR)$(PREFIX)/bin/sundew $(DESTDIR)$(PREFIX)/bin/sundew-cc \
	    $(DESTDIR)$(PREFIX)/share/man/man1/sundew.1 \
	    $(DESTDIR)$(PREFIX)/share/man/man1/sundew-*.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/sundew \
	    $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_sundew \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sundew.fish

.PHONY: format clean
# As .clang-format says; tests/scripts/format.sh compares.
CLANG_FORMAT ?= clang-format-19
format:
	$(CLANG_FORMAT) -i $$(git ls-files 'src/*.[ch]' 'runtime/*.[ch]' 'tests/unit/*.[ch]' 'tests/tools/*.[ch]')

clean:
	rm -rf build build-asan build-tsan build-fuzz
