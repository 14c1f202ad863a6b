/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Conformance: see conformance.h.
 */
#include "tests/fake/conformance.h"

#include <errno.h>
#include <string.h>

#define TIMEOUT_MS 30000

typedef enum {
    WRITE, /* path, value; result */
    READ,  /* path; result, and value if it is 0 */
    LINK,  /* path; result, and value if it is 0 */
    SET,   /* VF (path as a number), "mac 52:..." and the like; result */
    GET,   /* VF, name of the attribute; result, and value if it is 0 ("-": not reported) */
    VFIO,  /* path is the function; value "none", "free" */
} Call;

/* In paths and values @ is the PF, %0 to %2 its VFs, * the VF's native driver. Numbers behind the
 * names are the facts they come from. */
typedef struct {
    const char *name;
    Call call;
    const char *path, *value;
    int result;
} Row;

#define D "bus/pci/devices/"

static const Row rows[] = {
    {"more VFs than there can be (L1)", WRITE, D "@/sriov_numvfs", "9999", -ERANGE},
    {"making three", WRITE, D "@/sriov_numvfs", "3", 0},
    {"the same number again (L1)", WRITE, D "@/sriov_numvfs", "3", 0},
    {"another number (L1)", WRITE, D "@/sriov_numvfs", "2", -EBUSY},
    {"the number stays", READ, D "@/sriov_numvfs", "3", 0},
    {"a VF knows its PF", LINK, D "%1/physfn", "@", 0},
    {"a PF has no PF", LINK, D "@/physfn", NULL, -ENOENT},
    {"no fourth VF", LINK, D "@/virtfn3", NULL, -ENOENT},
    {"a VF starts with its own driver", LINK, D "%0/driver", "*", 0},
    {"nothing to open yet", VFIO, "%0", "none", 0},

    {"admin MAC starts as zero", GET, "0", "mac", 0},
    {"setting a MAC", SET, "0", "mac 52:54:00:00:00:01", 0},
    {"broadcast MAC (L18)", SET, "0", "mac ff:ff:ff:ff:ff:ff", -EINVAL},
    {"no such VF (L18)", SET, "3", "mac 52:54:00:00:00:01", -EINVAL},
    {"VLAN and QoS (L16)", SET, "0", "vlan 100 qos 3", 0},
    {"802.1ad (L17)", SET, "0", "vlan 100 qos 3 802.1ad", -EPROTONOSUPPORT},
    {"link state (L17)", SET, "0", "link up", -EOPNOTSUPP},
    {"RSS query (L17)", SET, "0", "rss-query on", -EOPNOTSUPP},
    {"minimum rate (L17)", SET, "0", "rate min 10 max 100", -EINVAL},
    {"spoofchk off", SET, "0", "spoofchk off", 0},
    {"trust on", SET, "0", "trust on", 0},
    {"zero MAC (L18)", SET, "1", "mac 00:00:00:00:00:00", 0},

    {"override while bound", WRITE, D "%0/driver_override", "vfio-pci", 0},
    {"does not move it", LINK, D "%0/driver", "*", 0},
    {"unbind (L5)", WRITE, D "%0/driver/unbind", "%0", 0},
    {"no driver then", LINK, D "%0/driver", NULL, -ENOENT},
    {"unbind of the unbound", WRITE, D "%0/driver/unbind", "%0", -ENOENT},
    {"bind to what the override does not name", WRITE, "bus/pci/drivers/*/bind", "%0", -ENODEV},
    {"bind to what it names", WRITE, "bus/pci/drivers/vfio-pci/bind", "%0", 0},
    {"bound", LINK, D "%0/driver", "vfio-pci", 0},
    {"can be opened (L3)", VFIO, "%0", "free", 0},
    {"reset", WRITE, D "%0/reset", "1", 0},
    {"clearing the override (L5)", WRITE, D "%0/driver_override", "", 0},
    {"leaves the binding (L5)", LINK, D "%0/driver", "vfio-pci", 0},
    {"and reads as null", READ, D "%0/driver_override", "(null)", 0},

    {"unbind another", WRITE, D "%1/driver/unbind", "%1", 0},
    {"override that names no driver", WRITE, D "%1/driver_override", "no-such-driver", 0},
    {"probe reports success (L6)", WRITE, "bus/pci/drivers_probe", "%1", 0},
    {"and binds nothing (L6)", LINK, D "%1/driver", NULL, -ENOENT},
    {"clear it", WRITE, D "%1/driver_override", "", 0},
    {"back to its own driver", WRITE, "bus/pci/drivers/*/bind", "%1", 0},
    {"is there", LINK, D "%1/driver", "*", 0},

    {"removing all", WRITE, D "@/sriov_numvfs", "0", 0},
    {"they are gone", LINK, D "@/virtfn0", NULL, -ENOENT},
    {"making them again", WRITE, D "@/sriov_numvfs", "3", 0},
    {"loses the override (L9)", READ, D "%0/driver_override", "(null)", 0},
    {"and leaves no trust", GET, "0", "trust off", 0},
    {"and no VLAN", GET, "0", "vlan none", 0},
    {"removed", WRITE, D "@/sriov_numvfs", "0", 0},

    {"no automatic drivers (L14)", WRITE, D "@/sriov_drivers_autoprobe", "0", 0},
    {"VFs then", WRITE, D "@/sriov_numvfs", "2", 0},
    {"start without one (L14)", LINK, D "%0/driver", NULL, -ENOENT},
    {"removed again", WRITE, D "@/sriov_numvfs", "0", 0},
    {"automatic drivers again", WRITE, D "@/sriov_drivers_autoprobe", "1", 0},
};

/* What @, %N and * stand for. */
typedef struct {
    NpSys *sys;
    char pf[NP_BDF_TEXT_SIZE];
    char vf[3][NP_BDF_TEXT_SIZE];
    char *driver;
    NpBdf pf_bdf;
} Names;

/* VFs get their names once they are there; the driver is that of the first when it has one. */
static void
learn(Names *names)
{
    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *path = g_strdup_printf(D "%s/virtfn%u", names->pf, i);
        g_autofree char *vf = NULL;
        if (names->sys->readlink(names->sys, path, &vf) == 0)
            g_strlcpy(names->vf[i], vf, sizeof(names->vf[i]));
    }
    g_autofree char *path = g_strdup_printf(D "%s/driver", names->vf[0]);
    if (!names->driver && *names->vf[0])
        (void) names->sys->readlink(names->sys, path, &names->driver); /* NULL when it has none */
}

static char *
expand(const Names *names, const char *text)
{
    GString *out = g_string_new(NULL);
    for (; text && *text; text++) {
        if (*text == '@')
            g_string_append(out, names->pf);
        else if (*text == '*')
            g_string_append(out, names->driver ? names->driver : "?");
        else if (*text == '%')
            g_string_append(out, names->vf[*++text - '0']);
        else
            g_string_append_c(out, *text);
    }
    return g_string_free(out, FALSE);
}

/* "name rest": the attribute, and where its value begins (NULL: none). */
static NpVfFields
split_attr(const char *text, const char **ret_value)
{
    for (unsigned i = 0; i < NP_VF_FIELD_COUNT; i++) {
        NpVfFields field = (NpVfFields) (1 << i);
        const char *name = np_vf_name(field);
        size_t length = strlen(name);
        if (strncmp(text, name, length) != 0)
            continue;
        *ret_value = text[length] == ' ' ? text + length + 1 : NULL;
        return field;
    }
    g_assert_not_reached();
}

static int
call_vf(Names *names, const Row *row, unsigned index, char **ret_value)
{
    const char *value;
    NpVfFields field = split_attr(row->value, &value);
    NpVfAttrs attrs = {0};
    if (row->call == SET) {
        g_assert_true(np_vf_parse(field, value, &attrs, NULL));
        return names->sys->set_vf(names->sys, &names->pf_bdf, index, &attrs, TIMEOUT_MS);
    }
    int result = names->sys->get_vf(names->sys, &names->pf_bdf, index, &attrs);
    np_vf_clean(&attrs);
    char *text = np_vf_format(&attrs, field);
    *ret_value = value ? g_strdup_printf("%s %s", np_vf_name(field), text ? text : "-") : NULL;
    g_free(text);
    return result;
}

static int
call_vfio(Names *names, const char *function, char **ret_value)
{
    NpBdf bdf;
    NpVfioState state;
    bool viable;
    g_assert_true(np_parse_bdf(function, &bdf, NULL));
    int result = names->sys->probe_vfio(names->sys, &bdf, &state, &viable);
    if (result == 0)
        *ret_value = g_strdup(state == NP_VFIO_NONE   ? "none"
                              : state == NP_VFIO_FREE ? "free"
                                                      : "busy");
    return result;
}

static int
call(Names *names, const Row *row, const char *path, const char *value, char **ret_value)
{
    NpSys *sys = names->sys;
    switch (row->call) {
    case WRITE:
        return sys->write_attr(sys, path, value, TIMEOUT_MS);
    case READ:
        return sys->read_attr(sys, path, ret_value);
    case LINK:
        return sys->readlink(sys, path, ret_value);
    case SET:
    case GET:
        return call_vf(names, row, (unsigned) g_ascii_strtoull(path, NULL, 10), ret_value);
    case VFIO:
        return call_vfio(names, path, ret_value);
    }
    g_assert_not_reached();
}

/* NULL when the answer is as expected. */
static char *
difference(Names *names, const Row *row)
{
    g_autofree char *path = expand(names, row->path);
    g_autofree char *value = expand(names, row->value);
    g_autofree char *answer = NULL;
    int result = call(names, row, path, value, &answer);
    if (result != row->result)
        return g_strdup_printf("answers %s, not %s", g_strerror(-result), g_strerror(-row->result));
    if (result == 0 && answer && strcmp(answer, value) != 0)
        return g_strdup_printf("answers '%s', not '%s'", answer, value);
    return NULL;
}

unsigned
np_conformance_run(NpSys *sys, const NpBdf *pf, NpConformanceReport report, gpointer data)
{
    Names names = {.sys = sys, .pf_bdf = *pf};
    unsigned differences = 0;
    np_bdf_format(pf, names.pf);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        learn(&names);
        g_autofree char *problem = difference(&names, &rows[i]);
        differences += problem != NULL;
        report(rows[i].name, problem, data);
    }
    g_free(names.driver);
    return differences;
}
