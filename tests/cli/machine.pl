#!/usr/bin/perl
# machine.pl FOLDER: builds a copy of a host that nobody has, for nicpass --root FOLDER.
# Two ports of its own kind: eno1 (in vmbr0, with VFs, behind a port with ACS), and a card with two
# functions in one IOMMU group behind a port without ACS, whose PCIe link is too narrow.
use strict;
use warnings;
use File::Basename;
use File::Path qw(make_path);

my $root = shift or die "usage: machine.pl FOLDER\n";

sub put {
    my ($name, $data) = @_;
    make_path(dirname("$root/$name"));
    open my $file, '>:raw', "$root/$name" or die "$name: $!\n";
    print $file $data;
    close $file;
}

sub link_to {
    my ($target, $name) = @_;
    make_path(dirname("$root/$name"));
    symlink $target, "$root/$name" or die "$name: $!\n";
}

# --- PCI
my %home;    # address => folder below sys

sub config_space {
    my ($port_type, $acs) = @_;    # undef: an endpoint
    my $bytes = "\0" x 4096;
    if (defined $port_type) {
        substr($bytes, 0x06, 1) = "\x10";                                 # a list of capabilities
        substr($bytes, 0x0e, 1) = "\x01";
        substr($bytes, 0x34, 1) = "\x40";
        substr($bytes, 0x40, 4) = pack('CCS', 0x10, 0, $port_type << 4 | 2);
        substr($bytes, 0x100, 8) = pack('SSSS', 0x0d, 1, 0x1f, $acs ? 0x1d : 0);
    }
    return $bytes;
}

sub pci {
    my ($address, $parent, %is) = @_;
    my $above = $parent ? $home{$parent} : 'devices/pci0000:00';
    my $folder = $home{$address} = "$above/$address";
    put("sys/$folder/class", "$is{class}\n");
    put("sys/$folder/vendor", "$is{vendor}\n");
    put("sys/$folder/device", "$is{device}\n");
    put("sys/$folder/numa_node", "0\n");
    put("sys/$folder/driver_override", "(null)\n");
    put("sys/$folder/config", config_space($is{port}, $is{acs}));
    put("sys/$folder/reset", '') if $is{class} =~ /^0x02/;
    put("sys/$folder/$_", "$is{attributes}{$_}\n") for sort keys %{ $is{attributes} // {} };
    link_to("../../../$folder", "sys/bus/pci/devices/$address");
    my $up = '../' x ($folder =~ tr,/,,);
    link_to("$up../bus/pci/drivers/$is{driver}", "sys/$folder/driver") if $is{driver};
    link_to("$up../kernel/iommu_groups/$is{group}", "sys/$folder/iommu_group");
    link_to("../../../../$folder", "sys/kernel/iommu_groups/$is{group}/devices/$address");
    return unless $is{net};
    put("sys/$folder/net/$is{net}/ifindex", "$is{ifindex}\n");
    put("sys/$folder/net/$is{net}/speed", "$is{speed}\n");
}

for my $driver (qw(pcieport igb igbvf ixgbe vfio-pci)) {
    put("sys/bus/pci/drivers/$driver/bind", '');
    put("sys/bus/pci/drivers/$driver/unbind", '');
}
put('sys/bus/pci/drivers_probe', '');
put('sys/class/iommu/dmar0/x', '');

my %port = (class => '0x060400', vendor => '0x8086', device => '0xa190', driver => 'pcieport');
my %igb = (class => '0x020000', vendor => '0x8086', device => '0x10c9', driver => 'igb');
my %ixgbe = (class => '0x020000', vendor => '0x8086', device => '0x10fb', driver => 'ixgbe');
pci('0000:00:1c.0', undef, %port, group => 1, port => 4, acs => 1);
pci('0000:00:1d.0', undef, %port, group => 2, port => 4, acs => 0);
pci('0000:3b:00.0', '0000:00:1c.0', %igb, group => 10, net => 'eno1', ifindex => 2, speed => 1000,
    attributes => {
        sriov_totalvfs => 7, sriov_numvfs => 3, sriov_offset => 128, sriov_stride => 2,
        sriov_drivers_autoprobe => 1,
        current_link_speed => '5.0 GT/s PCIe', max_link_speed => '5.0 GT/s PCIe',
        current_link_width => 4, max_link_width => 4,
    });
for my $vf (0 .. 2) {
    my $address = sprintf '0000:3b:10.%d', $vf * 2;
    pci($address, '0000:00:1c.0', %igb, device => '0x10ca', driver => ($vf == 1 ? 'igbvf' : undef),
        group => 11 + $vf, $vf == 1 ? (net => 'eno1v1', ifindex => 5, speed => 1000) : ());
    link_to("../$address", "sys/$home{'0000:3b:00.0'}/virtfn$vf");
    link_to('../0000:3b:00.0', "sys/$home{$address}/physfn");
}
for my $function (0, 1) {
    pci("0000:5e:00.$function", '0000:00:1d.0', %ixgbe, group => 2, net => "ens2f$function",
        ifindex => 10 + $function, speed => 10000,
        attributes => {
            sriov_totalvfs => $function ? 0 : 63, sriov_numvfs => 0, sriov_offset => 128,
            sriov_stride => 2, sriov_drivers_autoprobe => 1,
            current_link_speed => '2.5 GT/s PCIe', max_link_speed => '5.0 GT/s PCIe',
            current_link_width => 4, max_link_width => 8,
        });
}

# --- what the kernel would answer
sub pad  { my ($data) = @_; return $data . "\0" x (-length($data) & 3) }
sub attr { my ($type, $data) = @_; return pad(pack('SS', 4 + length $data, $type) . $data) }

sub message {
    my ($type, $body) = @_;
    return pack('LSSLL', 16 + length $body, $type, 2, 1, 0) . $body;
}

sub hex_file {
    my ($name, @messages) = @_;
    put("netlink/$name.hex", join '', map { unpack('H*', $_) . "\n" } @messages);
}

sub net_link {
    my ($ifindex, $name, %is) = @_;
    my $flags = $is{down} ? 0x1002 : 0x11043;
    my $body = pack('CxSlLL', 0, 1, $ifindex, $flags, 0) . attr(3, "$name\0") . attr(4, pack('L', 1500));
    $body .= attr(1, pack('H12', $is{mac} // '02000000000' . $ifindex % 10));
    $body .= attr(54, pack('H12', $is{mac})) if $is{mac};
    $body .= attr(10, pack('L', $is{master})) if $is{master};
    $body .= attr(18, attr(1, "$is{kind}\0")) if $is{kind};
    return message(16, $body . ($is{more} // ''));
}

sub vf_info {
    my ($vf, $mac) = @_;
    return attr(1, attr(1, pack('L', $vf) . pack('H12', $mac) . "\0" x 26)
            . attr(2, pack('LLL', $vf, 0, 0))
            . attr(6, pack('LLL', $vf, 0, 0))
            . attr(4, pack('LL', $vf, 1))
            . attr(5, pack('LL', $vf, 0))
            . attr(7, pack('LL', $vf, 0xffffffff))
            . attr(9, pack('LL', $vf, 0)));
}

my @eno1 = (2, 'eno1', mac => '3cfdfe000010', master => 4);
hex_file('links', net_link(1, 'lo'), net_link(@eno1), net_link(4, 'vmbr0', kind => 'bridge'),
    net_link(5, 'eno1v1', mac => '0200000000a1', down => 1),
    net_link(10, 'ens2f0', mac => '3cfdfe000020'),
    net_link(11, 'ens2f1', mac => '3cfdfe000021', down => 1));
hex_file('addresses', message(20, pack('CCCCL', 2, 24, 0, 0, 4) . attr(2, pack('C4', 10, 0, 0, 2))));
hex_file('routes4',
    message(24, pack('CCCCCCCCL', 2, 0, 0, 0, 254, 3, 0, 1, 0) . attr(5, pack('C4', 10, 0, 0, 1)) . attr(4, pack('L', 4))),
    message(24, pack('CCCCCCCCL', 2, 24, 0, 0, 254, 2, 253, 1, 0) . attr(1, pack('C4', 10, 0, 0, 0)) . attr(4, pack('L', 4))));
hex_file('vfs-2', net_link(@eno1,
        more => attr(22, join '', vf_info(0, '0200000000a0'), vf_info(1, '0200000000a1'), vf_info(2, '000000000000'))));

# --- the rest
put('proc/net/tcp', "  sl  local_address rem_address   st\n   0: 0200000A:0016 0900000A:C350 01 0:0\n");
put('proc/mounts', "nas:/vm /mnt/nas nfs4 rw,addr=10.0.0.5 0 0\n");
put('etc/hosts', "127.0.0.1 localhost\n");
put('run/x', '');
put('dev/kvm', '');
put('dev/kmsg', "3,1,1,-;i40e 0000:3b:00.0: VF 1 is not trusted, switch the VF to trusted\n6,2,2,-;eno1: link up\n");
put('nicpass.conf', <<'END');
[pool fast]
pf = 0000:3b:00.0
vfs = 3

[vm 101]
vf = 0000:3b:10.4
mac = keep
spoofchk = on

[vm 102]
pool = fast
vlan = 100

[vm 103]
pf = 0000:3b:00.0
END
