/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Inventory: what is, as one scan of the host found it. Plain data.
 */
#pragma once

#include "lib/base/json.h"
#include "lib/base/parse.h"
#include "lib/model/vf.h"

typedef enum {
    NP_FUNCTION_PLAIN, /* any endpoint that is neither of the next two */
    NP_FUNCTION_PF,    /* has an SR-IOV capability, whether or not it has VFs now */
    NP_FUNCTION_VF,
    NP_FUNCTION_PORT, /* root port, switch port, bridge: header type 1 or class 06xx */
} NpFunctionKind;

typedef enum {
    NP_ACS_UNKNOWN, /* not a port, or its configuration space was not readable */
    NP_ACS_ABSENT,  /* a port without ACS, or with it switched off: spoils the groups below */
    NP_ACS_ON,
} NpAcs;

/* Whether a process holds the function's VFIO group or device open. */
typedef enum {
    NP_VFIO_NONE, /* not on a VFIO driver: there is nothing to open */
    NP_VFIO_FREE, /* opened and closed again by us */
    NP_VFIO_BUSY, /* EBUSY: some process has it, see the use of kind VFIO for who */
} NpVfioState;

/* Who uses a function and why it must not be taken. Uses are found downwards: from every address,
 * route, session and so on through bridge, bond, team, vlan, macvlan to the PCI function. */
typedef enum {
    NP_USE_ADDRESS, /* the host has an address on it, directly or through others */
    NP_USE_ROUTE,   /* a route other than the default and the connected ones */
    NP_USE_DEFAULT_ROUTE,
    NP_USE_MEMBER, /* port of a bridge, bond, team or OVS, or parent of a vlan or macvlan */
    NP_USE_SSH,    /* the session this command runs in, or any established one */
    NP_USE_COROSYNC,
    NP_USE_STORAGE,      /* NFS, iSCSI, Ceph, NVMe-oF and the like */
    NP_USE_TRAFFIC_RULE, /* tc or XDP */
    NP_USE_VFIO,         /* a process has the VFIO group or device open */
    NP_USE_RESERVED,     /* Proxmox' reservation file names it for a VM */
    NP_USE_DOMAIN,       /* a libvirt domain that runs names it */
} NpUseKind;

typedef struct {
    NpUseKind kind;
    char *text; /* in words, to follow "because": "vmbr0 has 10.0.0.2/24", "VM 101 reserved it" */
    uint32_t vmid; /* of RESERVED; 0 otherwise */
    char *uuid;    /* of DOMAIN, lower case; NULL otherwise */
} NpUse;

/* The function's own netdev (not a representor), from its net/ folder. */
typedef struct {
    char *name; /* for messages only: never a key */
    int ifindex;
    NpMac mac;      /* the one in effect */
    NpMac perm_mac; /* zero when the driver has none */
    bool up;        /* administratively */
    bool carrier;
    unsigned mtu;
    char *master;     /* nullable: name of the bridge, bond or team */
    char **addresses; /* "10.0.0.2/24", without link-local IPv6; NULL-terminated, never NULL */
} NpNetdev;

/* What a PF says. */
typedef struct {
    unsigned total;          /* sriov_totalvfs; 0: switched off in the card's firmware */
    unsigned count;          /* sriov_numvfs */
    unsigned offset, stride; /* sriov_offset, sriov_stride: routing id of VF i is the PF's plus
                                offset + i * stride; 0: not known */
    bool autoprobe;          /* sriov_drivers_autoprobe */
    bool switchdev;          /* devlink eswitch mode */
    bool has_attrs;          /* false: the PF has no netdev, or the query failed: attrs is empty */
    GArray *attrs; /* of NpVfAttrs, by VF index, np_vf_clean'ed; may be shorter than count */
} NpSriov;

typedef struct {
    NpBdf bdf;
    NpFunctionKind kind;
    uint16_t vendor, device;
    uint32_t class_code;   /* 24 bits; network is 02xxxx */
    char *driver;          /* nullable */
    char *driver_override; /* nullable; the kernel's "(null)" is NULL */
    int group;             /* IOMMU group for showing and comparing now, -1: none. Never stored */
    int numa_node;         /* -1: not known */
    bool can_reset;        /* has a reset attribute */
    bool has_upstream;     /* false below the root complex */
    NpBdf upstream;        /* the port directly above */
    NpAcs acs;             /* of a PORT */
    NpBdf physfn;          /* of a VF */
    unsigned vf_index;     /* of a VF, from the PF's virtfnN link */
    NpNetdev *net;         /* nullable */
    NpSriov *sriov;        /* of a PF, else NULL */
    NpVfioState vfio;
    GPtrArray *uses; /* of NpUse; may be empty, never NULL */
} NpFunction;

typedef struct {
    GPtrArray *functions; /* of NpFunction, by BDF: all network functions, their groups' other
                             members, and all ports above any of these */
    bool iommu;           /* /sys/class/iommu is not empty */
    char *path_problem;   /* nullable: why the host's management path does not work even now */
} NpInventory;

NpFunction *np_function_new(const NpBdf *bdf, NpFunctionKind kind);
void np_function_free(NpFunction *function);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpFunction, np_function_free)

NpNetdev *np_netdev_new(const char *name);
void np_netdev_free(NpNetdev *net);

/* Adds a use (text is copied, uuid nullable). */
void np_function_add_use(NpFunction *function, NpUseKind kind, const char *text, uint32_t vmid,
                         const char *uuid);

NpInventory *np_inventory_new(void);
void np_inventory_free(NpInventory *inventory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NpInventory, np_inventory_free)

/* Takes function and keeps the order. */
void np_inventory_add(NpInventory *inventory, NpFunction *function);

/* NULL when absent (owned by inventory). */
NpFunction *np_inventory_find(const NpInventory *inventory, const NpBdf *bdf);
NpFunction *np_inventory_find_vf(const NpInventory *inventory, const NpBdf *pf, unsigned vf_index);

/* Where VF vf_index of pf is or will be: from its virtfn link, else by offset and stride. False
 * when neither is known. Pure. */
bool np_inventory_vf_bdf(const NpInventory *inventory, const NpFunction *pf, unsigned vf_index,
                         NpBdf *ret_bdf);

/* Attributes of a VF as its PF reports them, or NULL (owned by inventory). */
const NpVfAttrs *np_inventory_vf_attrs(const NpInventory *inventory, const NpFunction *vf);

/* "0000:3b:00.0 (igb, eno1, in vmbr0)" (transfer full). */
char *np_function_describe(const NpFunction *function);

/* The inventory as JSON, for `scan --json`, for tests, and for users to send in; and back. Throws
 * PROTOCOL. Pure. */
json_t *np_inventory_to_json(const NpInventory *inventory);
NpInventory *np_inventory_from_json(const json_t *object, GError **error);
