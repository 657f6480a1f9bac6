/**
 * Starts a program with a user id, without capabilities, and in a mount namespace of its own. The root of the
 * namespace is a small read-only tree: the programs of the host, some devices, and the given files.
 */

/** Programs, libraries, and firmware. Missing paths are skipped. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/ld.so.cache'];

export const SYSTEM_MOUNTS: readonly Mount[] = SYSTEM.map((path) => ({ mode: 'ro', from: path, to: path }));

/** Device nodes by name, with their numbers in Linux. */
const DEVICES = {
  null: 'c 1 3',
  zero: 'c 1 5',
  urandom: 'c 1 9',
  'net/tun': 'c 10 200',
  kvm: 'c 10 232',
} as const;
export type Device = keyof typeof DEVICES;

export interface Mount {
  readonly mode: 'ro' | 'rw';
  readonly from: string;
  readonly to: string;
}

export interface Isolation {
  /** An empty folder of the host, which each namespace covers with its own root. */
  readonly root: string;
  readonly uid: number;
  /** A further group of the program; none by default. */
  readonly group?: number | undefined;
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
}

/**
 * Arguments: root, user id, groups, devices, then three for each mount, `--`, and the program. Everything is
 * mounted before the program starts; nothing can be mounted later. The processes replace each other, so the
 * program has the process id of the first.
 */
const SCRIPT = `
set -eu
umask 022
root=$1 uid=$2 groups=$3 devices=$4
shift 4
mount -t tmpfs -o mode=755,nosuid,noexec,size=256k,nr_inodes=512 guest "$root"
cd "$root"
while [ "$1" != -- ]; do
  # /bin and /lib are links on many systems. Deeper ones, such as of an image, are followed.
  if [ -L "$2" ] && [ -z "\${3%/*}" ]; then
    cp -P "$2" ".$3"
  elif [ -e "$2" ]; then
    mkdir -p ".\${3%/*}"
    if [ -d "$2" ]; then mkdir -p ".$3"; else : > ".$3"; fi
    mount --bind "$2" ".$3"
    mount -o "remount,bind,$1,nosuid,nodev" ".$3"
  fi
  shift 3
done
shift
mkdir -p dev/net
IFS=,
for device in $devices; do
  IFS=' '
  set -- $device -- "$@"
  mknod -m 666 "dev/$1" "$2" "$3" "$4"
  shift 5
done
mkdir .host proc
pivot_root . .host
cd /
# umount needs /proc to find what it unmounts.
mount -t proc proc /proc
umount -l /.host
umount -l /proc
rmdir /.host /proc
mount -n -o remount,ro,nosuid,noexec /
umask 077
exec setpriv --reuid "$uid" --regid "$uid" "$groups" --bounding-set=-all --inh-caps=-all \\
  --no-new-privs -- "$@"`;

export function isolationCommand({ root, uid, group, mounts, devices }: Isolation): string[] {
  const nodes = devices.map((name) => `${name} ${DEVICES[name]}`).join(',');
  const places = mounts.flatMap(({ mode, from, to }) => [mode, from, to]);
  const namespaces = ['--mount', '--ipc', '--propagation', 'private'];
  return [
    'unshare',
    ...namespaces,
    '--',
    'sh',
    '-c',
    SCRIPT,
    'isolate',
    root,
    String(uid),
    group === undefined ? '--clear-groups' : `--groups=${group}`,
    nodes,
    ...places,
    '--',
  ];
}
