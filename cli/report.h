/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * The report verb: records of a folder as a table, TSV or JSON on stdout.
 */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Runs "report DIR [--format table|tsv|json]"; argv[0] is the verb. Throws CONFIG for a wrong
 * command line, NOT_FOUND for a folder without records, IO when stdout does not take the report.
 * --help prints and exits with 0. */
bool np_cmd_report(int argc, char **argv, GError **error);
