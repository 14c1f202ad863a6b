/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the nicpass authors
 *
 * Test: a failure and a death at every step of every plan, and what is left then.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/error.h"
#include "tests/fake/host.h"

#define VMID  101
#define PF    "0000:01:00.0"
#define PORT  "0000:01:00.1"
#define POOL  "[pool fast]\npf = " PF "\n"
#define STEPS 64

/* Where a claim starts from, and what it asks for: one row a kind of plan. */
typedef struct {
    const char *name, *driver, *config;
    void (*prepare)(FakeHost *host);
    unsigned vfs; /* that are there before or come with the claim, and stay */
} Scenario;

static void
prepare_three_vfs(FakeHost *host)
{
    fake_make_vfs(host->state, fake_find(host->kernel, PF), 3);
}

static void
prepare_down_pf(FakeHost *host)
{
    fake_find(host->kernel, PF)->net.up = false;
}

static void
prepare_dirty_vfs(FakeHost *host)
{
    FakeDevice *pf = fake_find(host->kernel, PF);
    fake_make_vfs(host->state, pf, 2);
    pf->vf[0].vlan = 77;
    pf->vf[0].mac = (NpMac){{0x52, 0x54, 0, 0, 0, 0x77}};
    pf->vf[0].spoofchk = false;
    pf->vf[0].max_mbps = 500;
}

static void
prepare_used_port(FakeHost *host)
{
    FakeDevice *port = fake_find(host->kernel, PORT);
    g_strlcpy(port->net.master, "vmbr1", FAKE_TEXT);
    g_strlcpy(port->net.addresses[0], "10.1.0.2/24", FAKE_TEXT);
    g_strlcpy(port->net.addresses[1], "fd00::2/64", FAKE_TEXT);
    port->net.mtu = 9000;
    fake_use(port, NP_USE_MEMBER, "it is a port of vmbr1", 0);
}

static void
prepare_nothing(FakeHost *host)
{
}

static const Scenario scenarios[] = {
    {"vf-made-for-it", "igb", POOL "[vm 101]\npool = fast\n", prepare_nothing, 1},
    {"vf-with-all-attributes", "igb",
     POOL "[vm 101]\npool = fast\nmac = 52:54:00:00:01:01\nvlan = 100\nvlan-qos = 3\n"
          "trust = on\nspoofchk = off\nrate-max = 100M\n",
     prepare_three_vfs, 3},
    {"vf-left-dirty", "igb", POOL "[vm 101]\npool = fast\n", prepare_dirty_vfs, 2},
    {"pf-down", "igb",
     "[pool fast]\npf = 0000:01:00.0\npf-up = set\nmtu = 9000\nvfs = 4\n"
     "[vm 101]\npool = fast\nvlan = 5\n",
     prepare_down_pf, 4},
    {"two-nics-of-two-ports", "igb",
     POOL "[pool b]\npf = 0000:01:00.1\n[vm 101]\npool = fast\nvlan = 1\n"
          "[vm 101 nic 1]\npool = b\nvlan = 2\n",
     prepare_nothing, 1},
    {"zero-mac-refused", "mlx5_core", POOL "[vm 101]\npool = fast\nvlan = 9\nlink = up\n",
     prepare_three_vfs, 3},
    {"whole-port", "igb", "[vm 101]\npf = 0000:01:00.1\neven-if-used = yes\n", prepare_used_port,
     0},
};

/* A way to go wrong at step k. */
typedef struct {
    const char *name;
    bool dies, after, for_good;
} Mishap;

static const Mishap mishaps[] = {
    {"fails", false, false, false},           {"fails-after-effect", false, true, false},
    {"fails-for-good", false, false, true},   {"dies", true, false, false},
    {"dies-after-effect", true, true, false},
};

static FakeHost *
new_host(const Scenario *scenario)
{
    FakeHost *host = fake_host_new(scenario->driver, scenario->config);
    scenario->prepare(host);
    host->state->effects = 0;
    return host;
}

/* The state after a release: as at the start, but with the VFs that were made. */
static char *
start_with_vfs(const Scenario *scenario, bool second_port)
{
    g_autoptr(FakeHost) host = new_host(scenario);
    FakeDevice *pf = fake_find(host->kernel, PF);
    if (pf->count == 0 && scenario->vfs)
        g_assert_cmpint(fake_make_vfs(host->state, pf, scenario->vfs), ==, 0);
    if (second_port)
        fake_make_vfs(host->state, fake_find(host->kernel, PORT), 1);
    return fake_kernel_dump(host->kernel);
}

static bool
claim(FakeHost *host, gpointer data)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(VMID);
    return np_claim(&host->apply, vm, NULL, NULL);
}

static bool
release(FakeHost *host, gpointer data)
{
    g_autoptr(NpVm) vm = np_vm_new_proxmox(VMID);
    return np_release(&host->apply, vm, NULL);
}

static bool
repair(FakeHost *host, gpointer data)
{
    g_autoptr(GPtrArray) done = NULL;
    return np_repair(&host->apply, NULL, &done, NULL);
}

typedef bool (*Act)(FakeHost *host, gpointer data);

/* Lets act run into the mishap at step k; whether the mishap was met. */
static bool
run_into(FakeHost *host, Act act, const Mishap *mishap, unsigned k, bool *ret_done)
{
    FakeFaults *faults = &host->state->faults;
    unsigned before = host->state->effects;
    int status = 0;
    *ret_done = false;
    if (mishap->dies) {
        faults->die_at = before + k;
        faults->die_after = mishap->after;
        status = fake_host_fork(host, act, NULL);
        *ret_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    } else {
        faults->fail_at = before + k;
        faults->fail_after = mishap->after;
        faults->fail_times = mishap->for_good ? 100000 : 1;
        faults->fail_errno = EIO;
        *ret_done = act(host, NULL);
    }
    memset(faults, 0, sizeof(*faults));
    return host->state->effects >= before + k;
}

static void
assert_clean(FakeHost *host, const char *wanted, const char *also_fine)
{
    g_autofree char *now = fake_kernel_dump(host->kernel);
    if (strcmp(now, wanted) != 0 && (!also_fine || strcmp(now, also_fine) != 0))
        g_assert_cmpstr(now, ==, wanted);
    g_assert_cmpuint(fake_host_leases(host), ==, 0);
    g_assert_cmpuint(fake_host_pf_journals(host), ==, 0);
}

static char *
end_state(const Scenario *scenario)
{
    g_autoptr(FakeHost) host = new_host(scenario);
    g_assert_true(claim(host, NULL));
    return fake_kernel_dump(host->kernel);
}

/* One mishap in a claim. What follows depends on the row: nothing is left, or the journal has it.
 */
static bool
check_claim(const Scenario *scenario, const Mishap *mishap, unsigned k, bool repair_first)
{
    g_autoptr(FakeHost) host = new_host(scenario);
    bool two = strstr(scenario->name, "two-nics") != NULL, done;
    g_autofree char *start = fake_kernel_dump(host->kernel);
    g_autofree char *released = start_with_vfs(scenario, two);
    g_autofree char *half = start_with_vfs(scenario, false);
    g_autofree char *intended = end_state(scenario);
    if (!run_into(host, claim, mishap, k, &done))
        return false;
    g_test_message("%s: %s at %u: %s", scenario->name, mishap->name, k, host->state->log[k - 1]);
    if (!done && !mishap->dies && !mishap->for_good) {
        g_autofree char *now = fake_kernel_dump(host->kernel);
        bool half_made = two && strcmp(now, half) == 0;
        assert_clean(host, half_made ? half : released, start);
    }
    if (repair_first && !done) {
        g_assert_true(repair(host, NULL));
        g_autofree char *now = fake_kernel_dump(host->kernel);
        bool half_made = two && strcmp(now, half) == 0;
        assert_clean(host, half_made ? half : released, start);
    }
    g_assert_true(claim(host, NULL));
    g_autofree char *again = fake_kernel_dump(host->kernel);
    g_assert_cmpstr(again, ==, intended);
    g_assert_true(release(host, NULL));
    assert_clean(host, released, NULL);
    return true;
}

static void
test_claim(gconstpointer data)
{
    const Scenario *scenario = data;
    for (size_t m = 0; m < G_N_ELEMENTS(mishaps); m++) {
        for (unsigned repair_first = 0; repair_first < 2; repair_first++) {
            unsigned k = 1;
            while (k < STEPS && check_claim(scenario, &mishaps[m], k, repair_first))
                k++;
            g_assert_cmpuint(k, >, 4); /* the mishaps were met */
            g_assert_cmpuint(k, <, STEPS);
        }
    }
}

static bool
check_release(const Scenario *scenario, const Mishap *mishap, unsigned k)
{
    g_autoptr(FakeHost) host = new_host(scenario);
    g_autofree char *released = start_with_vfs(scenario, strstr(scenario->name, "two-nics"));
    bool done;
    g_assert_true(claim(host, NULL));
    if (!run_into(host, release, mishap, k, &done))
        return false;
    if (!done) /* what is not yet back is still known */
        g_assert_cmpuint(fake_host_leases(host) + fake_host_pf_journals(host), >, 0);
    g_assert_true(release(host, NULL));
    g_assert_true(repair(host, NULL));
    assert_clean(host, released, NULL);
    return true;
}

static void
test_release(gconstpointer data)
{
    const Scenario *scenario = data;
    for (size_t m = 0; m < G_N_ELEMENTS(mishaps); m++) {
        unsigned k = 1;
        while (k < STEPS && check_release(scenario, &mishaps[m], k))
            k++;
        g_assert_cmpuint(k, >, 3);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(scenarios); i++) {
        g_autofree char *in_claim = g_strdup_printf("/crash/claim/%s", scenarios[i].name);
        g_autofree char *in_release = g_strdup_printf("/crash/release/%s", scenarios[i].name);
        g_test_add_data_func(in_claim, &scenarios[i], test_claim);
        g_test_add_data_func(in_release, &scenarios[i], test_release);
    }
    return g_test_run();
}
