/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Configuration groups' values: see config-group.h.
 */
#include "lib/model/config-group.h"

#include <string.h>

const char *
np_group_get(const NpGroup *group, const char *key)
{
    return np_keyfile_get(group->file, group->group, key);
}

bool
np_group_bad(const NpGroup *group, const char *key, GError **error)
{
    return np_keyfile_prefix(group->file, group->group, key, error);
}

bool
np_group_word(const NpGroup *group, const char *key, const char *const *words, int fallback,
              int *ret_index, GError **error)
{
    const char *text = np_group_get(group, key);
    int index = text ? 0 : fallback;
    while (text && words[index] && strcmp(words[index], text) != 0)
        index++;
    if (words[index]) {
        *ret_index = index;
        return true;
    }
    g_autofree char *quoted = np_quote(text);
    g_autofree char *all = g_strjoinv(", ", (char **) (uintptr_t) words);
    return np_keyfile_throw(group->file, group->group, key, error, "%s is not one of %s", quoted,
                            all);
}

bool
np_group_driver(const NpGroup *group, char **ret_driver, GError **error)
{
    const char *text = np_group_get(group, "driver");
    if (text && !np_parse_name(text, error))
        return np_group_bad(group, "driver", error);
    *ret_driver = g_strdup(text);
    return true;
}

bool
np_group_pf(const NpGroup *group, NpPfRef *pf, GError **error)
{
    const char *text = np_group_get(group, "pf"), *mac = np_group_get(group, "pf-mac"),
               *name = np_group_get(group, "pf-name");
    if (text && np_parse_bdf(text, &pf->bdf, NULL))
        pf->has_bdf = true;
    else if (text && np_parse_mac(text, &pf->mac, NULL))
        pf->has_mac = true;
    else if (text && !np_parse_ifname(text, NULL))
        return np_keyfile_throw(group->file, group->group, "pf", error,
                                "'%s' is not a PCI address (0000:3b:00.0), a permanent MAC or an "
                                "interface's name",
                                text);
    else
        pf->name = g_strdup(text);
    if (mac && pf->has_mac)
        return np_keyfile_throw(group->file, group->group, "pf-mac", error,
                                "'pf' is a MAC already");
    if (name && pf->name)
        return np_keyfile_throw(group->file, group->group, "pf-name", error,
                                "'pf' is a name already");
    if (mac && !np_parse_mac(mac, &pf->mac, error))
        return np_group_bad(group, "pf-mac", error);
    if (name && !np_parse_ifname(name, error))
        return np_group_bad(group, "pf-name", error);
    pf->has_mac = pf->has_mac || mac;
    if (name)
        pf->name = g_strdup(name);
    return true;
}
