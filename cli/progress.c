/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Progress: see progress.h.
 */
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>

#define CLEAR_LINE "\r\033[K"

void
np_progress_clear(NpProgressView *view)
{
    if (view->shown)
        fputs(CLEAR_LINE, stderr);
    view->shown = false;
}

static void
print_finished(const NpProgress *progress, const char *what)
{
    if (np_json_bool(progress->record, "valid", false)) {
        double bps = np_json_real(json_object_get(progress->record, "totals"), "goodput_bps", 0);
        fprintf(stderr, "%3u/%u  %s  %.2f Gbit/s\n", progress->index + 1, progress->count, what,
                bps / 1e9);
        return;
    }
    const json_t *cause = json_array_get(json_object_get(progress->record, "causes"), 0);
    fprintf(stderr, "%3u/%u  %s  invalid: %s\n", progress->index + 1, progress->count, what,
            np_json_string(cause, "text", "no cause given"));
}

void
np_progress_show(const NpProgress *progress, gpointer data)
{
    NpProgressView *view = data;
    const NpRun *run = progress->run;
    const NpTopology *topology = g_ptr_array_index(progress->scenario->topologies, run->topology);
    g_autofree char *what =
        g_strdup_printf("block %u/%u  %-8s %2u process%s%s", run->block, progress->scenario->blocks,
                        topology->name, run->processes, run->processes == 1 ? "  " : "es",
                        run->direction == NP_DIRECTION_REVERSE ? " reverse" : "");
    if (progress->record) {
        np_progress_clear(view);
        print_finished(progress, what);
        return;
    }
    if (!view->terminal)
        return;
    g_autofree char *live = isnan(progress->live_bps)
                                ? g_strdup("")
                                : g_strdup_printf("%6.2f Gbit/s", progress->live_bps / 1e9);
    fprintf(stderr, CLEAR_LINE "%3u/%u  %s %13s  %d:%02d left", progress->index + 1,
            progress->count, what, live, (int) (progress->left_ms / 60000),
            (int) (progress->left_ms / 1000 % 60));
    fflush(stderr);
    view->shown = true;
}
