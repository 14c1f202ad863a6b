# nicpass: gives virtual machines network cards by PCI passthrough and measures what that buys.
# The builder's variables: CC, CFLAGS, CPPFLAGS, LDFLAGS, PREFIX and friends, DESTDIR.

VERSION := 0.1.0
B ?= build
SANITIZE ?=
WERROR ?=

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
UDEVRULESDIR ?= $(PREFIX)/lib/udev/rules.d
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
POLKITRULESDIR ?= $(DATADIR)/polkit-1/rules.d
PKLADIR ?= /var/lib/polkit-1/localauthority/10-vendor.d
INSTALL ?= install
PKG_CONFIG ?= pkg-config
SCDOC ?= scdoc
CFLAGS ?= -O2 -g
V ?=
Q := $(if $(V),,@)

DEPS_BUILD := gcc make pkg-config libglib2.0-dev libjansson-dev libiperf-dev libsctp-dev \
	libssl-dev libnl-3-dev libnl-route-3-dev libpcre2-dev libgsl-dev libpci-dev scdoc
DEPS_CHECK := $(DEPS_BUILD) clang clang-format libclang-rt-14-dev perl iproute2 iperf3 file procps jq \
	systemd udev strace umockdev pci.ids

MY_CPPFLAGS := -I. -D_GNU_SOURCE -DG_LOG_DOMAIN='"nicpass"' -DG_LOG_USE_STRUCTURED \
	-DGLIB_VERSION_MIN_REQUIRED=GLIB_VERSION_2_74 -DGLIB_VERSION_MAX_ALLOWED=GLIB_VERSION_2_74 \
	-DNP_VERSION='"$(VERSION)"' -DNP_SBINDIR='"$(SBINDIR)"' -DNP_DATADIR='"$(DATADIR)"'
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wpointer-arith -Wvla -Wwrite-strings -Wcast-qual -Wundef -Wimplicit-fallthrough \
	-Wswitch-enum -Wno-unused-parameter -Wno-missing-field-initializers
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
WARNINGS += $(if $(IS_CLANG),,-Wlogical-op -Wduplicated-cond)
MY_CFLAGS := -std=gnu17 -ffile-prefix-map=$(CURDIR)/= $(WARNINGS) $(if $(WERROR),-Werror) \
	-fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE
MY_LDFLAGS := -Wl,-z,relro,-z,now -Wl,--as-needed
ifneq ($(SANITIZE),)
MY_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
MY_LDFLAGS += -fsanitize=$(SANITIZE)
else ifeq ($(findstring FORTIFY,$(CPPFLAGS))$(findstring -O0,$(CFLAGS)),)
MY_CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif

# One pkg-config call a package set; libiperf has no .pc file.
GLIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags glib-2.0 jansson libnl-route-3.0 2>/dev/null)
GLIB_LIBS := $(shell $(PKG_CONFIG) --libs glib-2.0 jansson 2>/dev/null)
PCI_LIBS := $(shell $(PKG_CONFIG) --libs libpci 2>/dev/null)
NL_LIBS := $(shell $(PKG_CONFIG) --libs libnl-route-3.0 2>/dev/null)
GSL_LIBS := $(shell $(PKG_CONFIG) --libs gsl 2>/dev/null)
# From the archive also in a dynamic agent: a shared library does not see the wrapped names.
IPERF_LIBS := -l:libiperf.a -lsctp -lssl -lcrypto -lm
STATIC_LIBS = $(shell $(PKG_CONFIG) --static --libs glib-2.0 jansson libnl-route-3.0) -liperf -lsctp \
	$(shell $(PKG_CONFIG) --static --libs libssl) -lm
# libiperf does not say when its interval clock starts; agent/iperf.c sees it through this seam.
AGENT_WRAP := -Wl,--wrap=iperf_init_test -Wl,--wrap=iperf_reset_stats

LIBS := $(NL_LIBS) $(GLIB_LIBS) $(GSL_LIBS) -lm
archive = $(Q)rm -f $@ && ar rcsD $@ $^
link = $(Q)$(CC) $(MY_CFLAGS) $(CFLAGS) $(MY_LDFLAGS) -pie $(LDFLAGS) -o $@ $^ $(LIBS) $(LDLIBS)
sources = $(sort $(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(B)/%.o,$(1))

LIB_SRC := $(call sources,lib/base lib/proto lib/model lib/plan lib/apply lib/bench)
AGENT_SRC := $(call sources,agent)
CLI_SRC := $(call sources,cli)
UNIT_SRC := $(call sources,tests/unit)
FAKE_SRC := $(call sources,tests/fake)
PROCESS_SRC := $(call sources,tests/agent)
BENCH_SRC := $(call sources,tests/bench)
LAB_SRC := $(call sources,tests/lab)
TESTS_C := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT_SRC) $(filter tests/agent/test-%,$(PROCESS_SRC)))
TESTS_SH := $(sort $(wildcard tests/check/*.sh tests/agent/*.sh tests/cli/*.sh))
MAN_SRC := $(sort $(wildcard cli/*.scd agent/*.scd templates/*.scd))
MAN := $(patsubst %.scd,$(B)/man/%,$(notdir $(MAN_SRC)))
ALL_C := $(LIB_SRC) $(AGENT_SRC) $(CLI_SRC) $(UNIT_SRC) $(FAKE_SRC) $(PROCESS_SRC) $(BENCH_SRC) \
	$(call sources,tests/fuzz) $(LAB_SRC)
FORMATTED := $(sort $(ALL_C) $(wildcard $(addsuffix *.h,$(sort $(dir $(ALL_C))))))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all check check-tests check-lab check-lab-quick bench install demo deps deps-check format format-check help clean distclean

# doc: all          build the programs and man pages (the default)
all: $(B)/nicpass $(B)/nicpass-agent $(MAN)

$(B)/libnicpass.a: $(call objects,$(LIB_SRC))
	$(archive)

$(B)/nicpass: LIBS += $(PCI_LIBS)
$(B)/nicpass: $(call objects,$(CLI_SRC)) $(B)/libnicpass.a
	$(link)

# The agent is static so that one file serves every distribution; sanitizers need a dynamic one. The linker
# warns about NSS in parts of GLib and OpenSSL that are never called: addresses are numeric only.
$(B)/nicpass-agent: $(call objects,$(AGENT_SRC)) $(B)/libnicpass.a
ifeq ($(SANITIZE),)
	$(Q)$(CC) $(MY_CFLAGS) $(CFLAGS) $(MY_LDFLAGS) -static -Wl,--no-warnings $(LDFLAGS) -o $@ $^ $(AGENT_WRAP) $(STATIC_LIBS) $(LDLIBS)
else
	$(Q)$(CC) $(MY_CFLAGS) $(CFLAGS) $(MY_LDFLAGS) -pie $(LDFLAGS) -o $@ $^ $(AGENT_WRAP) $(NL_LIBS) $(GLIB_LIBS) $(IPERF_LIBS) $(LDLIBS)
endif

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(MY_CPPFLAGS) $(GLIB_CFLAGS) $(CPPFLAGS) $(MY_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/libfake.a: $(call objects,$(FAKE_SRC))
	$(archive)

# All of the agent but its main and libiperf's child: an archive, so that a test links only what it uses.
$(B)/libagent-tested.a: $(call objects,$(filter-out agent/main.c agent/iperf.c,$(AGENT_SRC)))
	$(archive)

# Tests: each .c is a program; what several process tests share is in the files not called test-*.
PROCESS_COMMON := $(call objects,$(filter-out tests/agent/test-%,$(PROCESS_SRC)))
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libfake.a $(B)/libagent-tested.a $(B)/libnicpass.a
	$(link)
$(B)/tests/agent/test-%: $(B)/tests/agent/test-%.o $(PROCESS_COMMON) $(B)/libagent-tested.a $(B)/libnicpass.a
	$(link)

# doc: check-tests  run every test on the programs in B, as TAP through prove
check-tests: all $(TESTS_C)
	NP_BUILD=$(abspath $(B)) prove --exec '' $(TESTS_C) $(TESTS_SH)

$(B)/man/%: %.scd
	@mkdir -p $(@D)
	$(Q)$(SCDOC) < $< > $@
vpath %.scd cli agent templates

# doc: deps         install what a build needs, with apt (deps-check: and the tests)
deps: ; $(call apt_install,$(DEPS_BUILD))
deps-check: ; $(call apt_install,$(DEPS_CHECK))

# Installs the packages that are missing; a machine that has them all is left alone.
define apt_install
	@missing=$$(for p in $(1); do \
		dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; done); \
	test -z "$$missing" && exit 0; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "as root: apt-get install --no-install-recommends" $$missing >&2; exit 1; fi; \
	apt-get update -q && \
	DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing
endef

# doc: demo         as root: install what is missing, build, measure two namespaces of this machine
demo: deps
	$(MAKE) all
	$(B)/nicpass bench templates/scenarios/local.ini --out $(B)/demo-$$(date +%Y%m%d-%H%M%S)

# doc: check        as root: install what is missing; format, gcc, clang, sanitizers, every test
check: deps-check
	$(MAKE) format-check
	$(MAKE) WERROR=1 check-tests
	$(MAKE) B=$(B)-clang CC=clang WERROR=1 all $(patsubst $(B)/%,$(B)-clang/%,$(TESTS_C))
	$(MAKE) B=$(B)-asan SANITIZE=address,undefined WERROR=1 check-tests

# doc: bench        as root: what the agent costs, and its load against plain iperf3
bench: deps-check
	$(MAKE) all $(patsubst %.c,$(B)/%,$(BENCH_SRC))
	NP_BUILD=$(abspath $(B)) $(B)/tests/bench/agent-vs-iperf3

$(B)/tests/bench/%: $(B)/tests/bench/%.o $(B)/cli/netns.o $(B)/libnicpass.a
	$(link)

# doc: check-lab    as root: every test on the emulated host (check-lab-quick: the short ones)
LAB_QUICK := $(addprefix tests/lab/,boot.sh guest-agent.sh)
LAB_RUN = NICPASS_LAB_LOGS=$(abspath $(B))/lab-logs tests/lab/lab run
check-lab: ; $(LAB_RUN) $(LAB_QUICK) $(filter-out $(LAB_QUICK),$(sort $(wildcard tests/lab/*.sh)))
check-lab-quick: ; $(LAB_RUN) $(LAB_QUICK)

$(B)/tests/lab/%: $(B)/tests/lab/%.o $(B)/libnicpass.a
	$(link)

# doc: format       rewrite the sources with clang-format (format-check: only look)
format:
	clang-format -i $(FORMATTED)
format-check:
	clang-format --dry-run --Werror $(FORMATTED)

# doc: install      copy everything to PREFIX below DESTDIR
install: all
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(SBINDIR) $(DATADIR)/nicpass/scenarios $(UNITDIR) \
		$(UDEVRULESDIR) $(SYSUSERSDIR) $(TMPFILESDIR) $(POLKITRULESDIR) $(PKLADIR) \
		$(sort $(foreach m,$(MAN),$(MANDIR)/man$(subst .,,$(suffix $(m))))))
	$(INSTALL) -m755 $(B)/nicpass $(DESTDIR)$(BINDIR)/
	$(INSTALL) -m755 $(B)/nicpass-agent $(DESTDIR)$(SBINDIR)/
	$(INSTALL) -m644 $(wildcard templates/scenarios/*.ini) $(DESTDIR)$(DATADIR)/nicpass/scenarios/
	$(INSTALL) -m644 templates/nicpass.conf $(DESTDIR)$(DATADIR)/nicpass/
	sed 's|@SBINDIR@|$(SBINDIR)|' agent/nicpass-agent.service > $(B)/nicpass-agent.service
	$(INSTALL) -m644 $(B)/nicpass-agent.service $(DESTDIR)$(UNITDIR)/
	$(INSTALL) -m644 agent/60-nicpass-agent.rules $(DESTDIR)$(UDEVRULESDIR)/
	$(INSTALL) -m644 agent/nicpass-agent.sysusers $(DESTDIR)$(SYSUSERSDIR)/nicpass-agent.conf
	$(INSTALL) -m644 agent/nicpass-agent.tmpfiles $(DESTDIR)$(TMPFILESDIR)/nicpass-agent.conf
	$(INSTALL) -m644 agent/nicpass-agent.rules $(DESTDIR)$(POLKITRULESDIR)/
	$(INSTALL) -m644 agent/nicpass-agent.pkla $(DESTDIR)$(PKLADIR)/
	$(foreach m,$(MAN),$(INSTALL) -m644 $(m) $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m)))/ &&) :
	cp -r tests/lab $(DESTDIR)$(DATADIR)/nicpass/
	rm $(DESTDIR)$(DATADIR)/nicpass/lab/*.c
	$(INSTALL) -m644 tests/tap.sh $(DESTDIR)$(DATADIR)/nicpass/

# doc: clean        remove the build folder
clean distclean:
	rm -rf $(B)

# doc: help         this list
help:
	@sed -n 's/^# doc: //p' $(firstword $(MAKEFILE_LIST))

-include $(shell find $(B) -name '*.d' 2>/dev/null)
