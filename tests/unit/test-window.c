/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Tests of the window.
 */
#include "lib/bench/window.h"

#include "lib/base/clock.h"

#define S          NP_NS_PER_S
#define near(a, b) g_assert_cmpfloat_with_epsilon((double) (a), (double) (b), 1e-6)

/* A process event that moved 10, 20, 30 .. bytes in its seconds and sent 1, 2, 3 .. again. */
static json_t *
process(int index, int64_t start_ns, unsigned seconds)
{
    json_t *from = json_array(), *to = json_array(), *bytes = json_array(), *again = json_array();
    for (unsigned i = 0; i < seconds; i++) {
        json_array_append_new(from, json_integer((json_int_t) i * 1000000));
        json_array_append_new(to, json_integer((json_int_t) (i + 1) * 1000000));
        json_array_append_new(bytes, json_integer(10 * (json_int_t) (i + 1)));
        json_array_append_new(again, json_integer(i + 1));
    }
    return json_pack("{s:i, s:b, s:I, s:{s:o, s:o, s:o, s:o}}", "index", index, "ok", true,
                     "start_ns", (json_int_t) start_ns, "intervals", "start_us", from, "end_us", to,
                     "bytes", bytes, "retransmits", again);
}

static const NpProcessCut *
cut_of(const NpWindow *window, unsigned i)
{
    return &g_array_index(window->processes, NpProcessCut, i);
}

static void
test_one_process(void)
{
    /* Its intervals: 100-101 s: 10, 101-102: 20, 102-103: 30, 103-104: 40. */
    const struct {
        int64_t from_ns, to_ns, ret_from_ns, ret_to_ns;
        double bytes;
        bool covered;
    } rows[] = {
        {100 * S, 104 * S, 100 * S, 104 * S, 100, true},
        {101 * S, 103 * S, 101 * S, 103 * S, 50, true},
        {101 * S + S / 2, 103 * S + S / 4, 101 * S + S / 2, 103 * S + S / 4, 50, true},
        {102 * S + S / 4, 102 * S + S / 2, 102 * S + S / 4, 102 * S + S / 2, 7.5, true},
        {99 * S, 102 * S, 100 * S, 102 * S, 30, false},
        {103 * S, 106 * S, 103 * S, 104 * S, 40, false},
        {90 * S, 95 * S, 100 * S, 95 * S, 0, false},
        {0, 0, 100 * S, 0, 0, false},
    };
    g_autoptr(json_t) events = json_pack("[o]", process(0, 100 * S, 4));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(NpWindow) w = np_window_cut(events, rows[i].from_ns, rows[i].to_ns);
        g_test_message("row %zu", i);
        g_assert_cmpint(w->from_ns, ==, rows[i].ret_from_ns);
        g_assert_cmpint(w->to_ns, ==, rows[i].ret_to_ns);
        near(w->bytes, rows[i].bytes);
        near(w->retransmits, rows[i].bytes / 10);
        g_assert_true(w->covered == rows[i].covered);
        near(cut_of(w, 0)->all_bytes, 100);
        near(cut_of(w, 0)->all_retransmits, 10);
    }
}

static void
test_common_stretch(void)
{
    g_autoptr(json_t) events = json_pack("[o, o]", process(1, 101 * S, 4), process(0, 100 * S, 4));
    g_autoptr(NpWindow) w = np_window_cut(events, 100 * S, 105 * S);
    g_assert_false(w->covered);
    g_assert_cmpint(w->from_ns, ==, 101 * S);
    g_assert_cmpint(w->to_ns, ==, 104 * S);
    near(w->bytes, 20 + 30 + 40 + 10 + 20 + 30);
    g_assert_cmpint(w->skew_ns, ==, S);
    near(cut_of(w, 0)->bytes, 90); /* by index, whatever their order */
    near(w->fairness, 150.0 * 150 / (2 * (90.0 * 90 + 60 * 60)));
    g_autoptr(NpWindow) inner = np_window_cut(events, 101 * S, 104 * S);
    g_assert_true(inner->covered);
    near(inner->bytes, w->bytes);
}

static void
test_hole_in_the_intervals(void)
{
    g_autoptr(json_t) events = json_pack("[o]", process(0, 100 * S, 4));
    json_t *intervals = json_object_get(json_array_get(events, 0), "intervals");
    json_array_set_new(json_object_get(intervals, "end_us"), 1, json_integer(1900000));
    g_autoptr(NpWindow) w = np_window_cut(events, 100 * S, 104 * S);
    g_assert_false(w->covered);
    g_assert_cmpint(cut_of(w, 0)->inside_ns, ==, 4 * S - S / 10);
}

static void
test_missing_parts(void)
{
    static const char *const texts[] = {
        "[]",
        "[{}]",
        "[{\"index\":0,\"start_ns\":5}]",
        "[{\"start_ns\":5,\"intervals\":{\"start_us\":[0],\"end_us\":[0],\"bytes\":[1]}}]",
        "[{\"start_ns\":5,\"intervals\":{\"start_us\":[1],\"end_us\":[-1],\"bytes\":[1]}}]",
        "[{\"start_ns\":-5,\"intervals\":{\"start_us\":[0],\"end_us\":[1000],\"bytes\":[1]}}]",
        "[{\"start_ns\":5,\"intervals\":{\"start_us\":[0],\"end_us\":[9e300],\"bytes\":[1]}}]",
        "[{\"start_ns\":9223372036854775807,\"intervals\":{\"start_us\":[0],\"end_us\":[1e15]}}]",
        "[7, null, \"x\"]",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(json_t) events = json_loads(texts[i], 0, NULL);
        g_assert_nonnull(events);
        g_autoptr(NpWindow) w = np_window_cut(events, 10, 20);
        g_assert_false(w->covered);
        g_assert_true(w->bytes == 0 && w->retransmits == -1 && w->to_ns <= w->from_ns);
    }
    g_autoptr(NpWindow) none = np_window_cut(NULL, 10, 20);
    g_assert_cmpuint(none->processes->len, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/window/one-process", test_one_process);
    g_test_add_func("/window/common-stretch", test_common_stretch);
    g_test_add_func("/window/hole-in-the-intervals", test_hole_in_the_intervals);
    g_test_add_func("/window/missing-parts", test_missing_parts);
    return g_test_run();
}
