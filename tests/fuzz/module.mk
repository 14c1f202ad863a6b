# Fuzzers (libFuzzer, so clang): make -f Makefile -f tests/fuzz/module.mk B=build-fuzz CC=clang fuzz
# FUZZ_SECONDS each. The library is built with the same instrumentation, in a build folder of its own.
FUZZ_SECONDS ?= 60
FUZZ_FLAGS ?= -max_total_time=$(FUZZ_SECONDS)
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz-*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))
FUZZ_CFLAGS := -g -O1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all

$(B)/tests/fuzz/%: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(Q)$(MAKE) --no-print-directory B=$(B) CC=clang CFLAGS='$(FUZZ_CFLAGS)' LDFLAGS=-fsanitize=address,undefined \
		CPPFLAGS=-D_FORTIFY_SOURCE=0 $(B)/libnicpass.a
	$(Q)clang $(MY_CPPFLAGS) $(GLIB_CFLAGS) $(MY_CFLAGS) -g -O1 -fsanitize=address,undefined,fuzzer \
		-fno-sanitize-recover=all -o $@ $< $(B)/libnicpass.a $(LIBS)

# doc: fuzz         run each fuzzer for FUZZ_SECONDS, starting from tests/data/fuzz
.PHONY: fuzz
fuzz: $(FUZZ)
	@for f in $(FUZZ); do mkdir -p $(B)/corpus/$$(basename $$f) && \
		$$f $(FUZZ_FLAGS) -timeout=120 -print_final_stats=1 $(B)/corpus/$$(basename $$f) \
		$$(ls -d tests/data/fuzz/$$(basename $$f) 2>/dev/null) || exit 1; done
