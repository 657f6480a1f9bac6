#!/usr/bin/env bash
# Builds a disk image to install servers from, out of Debian packages:
#
#   scripts/build-debian-image.sh 13 debian-13.qcow2
#   scripts/build-debian-image.sh 13 rescue.qcow2 gdisk lvm2 mdadm cryptsetup rsync
#
# It needs root, mmdebstrap, qemu-utils, e2fsprogs, a few minutes, and 3 GiB. It mounts nothing on this
# machine. Each image has a new file system UUID. Build the rescue image separately, so that it differs from
# installed disks.
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
partition_mib=2047 # after 1 MiB of boot loader; the guest grows it to the size of its disk

packages=(
  linux-image-cloud-amd64 grub-pc systemd-sysv dbus
  cloud-init cloud-guest-utils fdisk e2fsprogs
  # cloud-init configures on-link routes only through netplan.
  netplan.io systemd-resolved iproute2 openssh-server
  ca-certificates systemd-timesyncd sudo less nano procps iputils-ping
)
# Later kernels update the boot loader of the disk that the guest sees.
debconf='grub-pc grub-pc/install_devices multiselect /dev/vda'
mmdebstrap --variant=minbase --include="${packages[*]} $*" \
  --essential-hook="echo '$debconf' | chroot \"\$1\" debconf-set-selections" \
  "$suite" "$root"

cat >"$root/etc/fstab" <<END
UUID=$uuid / ext4 errors=remount-ro,discard 0 1
END
mkdir -p "$root/etc/cloud/cloud.cfg.d"
cat >"$root/etc/cloud/cloud.cfg.d/90_server.cfg" <<'END'
datasource_list: [NoCloud, None]
# This locale exists without being generated.
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

# GRUB's core image is between the partition table and the first partition, and reads its menu from the file
# system. The guest writes its own menu with its next kernel.
chroot "$root" grub-mkimage -O i386-pc -o /core.img -p '(hd0,msdos1)/boot/grub' \
  biosdisk part_msdos ext2 normal
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

# Remove the machine's identity: each server creates its own.
rm -f "$root"/etc/ssh/ssh_host_* "$root/var/lib/dbus/machine-id" "$root/etc/hostname"
: >"$root/etc/machine-id"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/log/*.log
# systemd-resolved handles name lookups once the network is up.
ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"

disk=$work/disk.raw
truncate -s $((1 + partition_mib))M "$disk"
mke2fs -q -t ext4 -U "$uuid" -L root -d "$root" -E offset=$((1024 * 1024)) "$disk" "${partition_mib}M"
dd if="$work/boot.img" of="$disk" bs=440 count=1 conv=notrunc status=none
dd if="$work/core.img" of="$disk" bs=512 seek=1 conv=notrunc status=none
# The partition table with one entry: active, Linux, from sector 2048, 2047 MiB.
printf '\x80\xfe\xff\xff\x83\xfe\xff\xff\x00\x08\x00\x00\x00\xf8\x3f\x00' |
  dd of="$disk" bs=1 seek=446 conv=notrunc status=none
printf '\x55\xaa' | dd of="$disk" bs=1 seek=510 conv=notrunc status=none
qemu-img convert -c -O qcow2 "$disk" "$out"
sha256sum "$out"
