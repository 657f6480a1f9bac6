#!/usr/bin/env bash
# Builds a disk that servers are installed from, out of Debian's own packages:
#
#   scripts/build-debian-image.sh 13 debian-13.qcow2
#   scripts/build-debian-image.sh 13 rescue.qcow2 gdisk lvm2 mdadm cryptsetup rsync
#
# It needs root, mmdebstrap, qemu-utils and e2fsprogs, some minutes and 3 GiB; it mounts nothing on this machine itself.
# Each disk gets file systems of its own identity: a rescue image must be built apart from those that are installed.
set -euo pipefail

case "${1:-} ${2:-}" in
  '12 '?*) suite=bookworm ;;
  '13 '?*) suite=trixie ;;
  *)
    echo "usage: $0 12|13 FILE.qcow2 [PACKAGE...]" >&2
    exit 2
    ;;
esac
out=$2
shift 2
for program in mmdebstrap qemu-img mke2fs; do
  command -v "$program" >/dev/null || { echo "not installed: $program" >&2; exit 1; }
done

work=$(mktemp -d "${TMPDIR:-/var/tmp}/debian-image.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
uuid=$(cat /proc/sys/kernel/random/uuid)
partition_mib=2047 # after 1 MiB of boot loader; the guest makes it as large as its disk

packages=(
  linux-image-cloud-amd64 grub-pc systemd-sysv dbus
  cloud-init cloud-guest-utils fdisk e2fsprogs
  # cloud-init configures routes on the link through netplan alone.
  netplan.io systemd-resolved iproute2 openssh-server
  ca-certificates systemd-timesyncd sudo less nano procps iputils-ping
)
# Kernels that come later are put into the boot loader of the disk that the guest sees.
mmdebstrap --variant=minbase --include="${packages[*]} $*" \
  --essential-hook='echo "grub-pc grub-pc/install_devices multiselect /dev/vda" | chroot "$1" debconf-set-selections' \
  "$suite" "$root"

cat >"$root/etc/fstab" <<END
UUID=$uuid / ext4 errors=remount-ro,discard 0 1
END
mkdir -p "$root/etc/cloud/cloud.cfg.d"
cat >"$root/etc/cloud/cloud.cfg.d/90_server.cfg" <<'END'
datasource_list: [NoCloud, None]
# The one that needs not be generated.
locale: C.UTF-8
system_info:
  network:
    renderers: [netplan]
END
mkdir -p "$root/etc/default/grub.d"
cat >"$root/etc/default/grub.d/server.cfg" <<'END'
GRUB_TIMEOUT=0
GRUB_CMDLINE_LINUX="console=ttyS0 console=tty0 net.ifnames=0"
END

# The loader's core lies between the table of partitions and the first of them, and reads its menu from the disk.
# The guest writes its own menu with its next kernel.
chroot "$root" grub-mkimage -O i386-pc -o /core.img -p '(hd0,msdos1)/boot/grub' biosdisk part_msdos ext2 normal
mkdir -p "$root/boot/grub/i386-pc"
cp "$root"/usr/lib/grub/i386-pc/*.{mod,lst} "$root/boot/grub/i386-pc/"
cat >"$root/boot/grub/grub.cfg" <<END
set timeout=0
menuentry Debian {
  search --no-floppy --fs-uuid --set=root $uuid
  linux /vmlinuz root=UUID=$uuid ro quiet console=ttyS0 console=tty0 net.ifnames=0
  initrd /initrd.img
}
END
mv "$root/core.img" "$work/core.img"
cp "$root/usr/lib/grub/i386-pc/boot.img" "$work/boot.img"

# What makes a machine itself is made in each one.
rm -f "$root"/etc/ssh/ssh_host_* "$root/var/lib/dbus/machine-id" "$root/etc/hostname"
: >"$root/etc/machine-id"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/var/log/*.log
# Whoever asks for names before the network is up finds nobody; afterwards it is systemd-resolved.
ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"

disk=$work/disk.raw
truncate -s $((1 + partition_mib))M "$disk"
mke2fs -q -t ext4 -U "$uuid" -L root -d "$root" -E offset=$((1024 * 1024)) "$disk" "${partition_mib}M"
dd if="$work/boot.img" of="$disk" bs=440 count=1 conv=notrunc status=none
dd if="$work/core.img" of="$disk" bs=512 seek=1 conv=notrunc status=none
# A table of one partition: active, Linux, from sector 2048 on, 2047 MiB.
printf '\x80\xfe\xff\xff\x83\xfe\xff\xff\x00\x08\x00\x00\x00\xf8\x3f\x00' |
  dd of="$disk" bs=1 seek=446 conv=notrunc status=none
printf '\x55\xaa' | dd of="$disk" bs=1 seek=510 conv=notrunc status=none
qemu-img convert -c -O qcow2 "$disk" "$out"
sha256sum "$out"
