/** Display names of images. */
import type { Image } from '../spec/schemas/image.ts';

/** Families whose name is not just their code. */
const FAMILY_NAMES: Readonly<Record<string, string>> = {
  almalinux: 'AlmaLinux',
  alpine: 'Alpine',
  arch: 'Arch Linux',
  archlinux: 'Arch Linux',
  centos: 'CentOS',
  debian: 'Debian',
  fedora: 'Fedora',
  freebsd: 'FreeBSD',
  nixos: 'NixOS',
  openbsd: 'OpenBSD',
  opensuse: 'openSUSE',
  rocky: 'Rocky Linux',
  ubuntu: 'Ubuntu',
};

/** Returns an image's name, or its family, version, and variant. */
export function formatImageName({ type, name, family, version, variant }: Image): string {
  if (type === 'custom') return name ?? `Custom image ${version}`.trim();
  return [FAMILY_NAMES[family] ?? family, version, variant].filter(Boolean).join(' ');
}

/** Returns the choices for a select. */
export function imageChoices(images: readonly Image[]): (readonly [value: string, name: string])[] {
  return images.map((image) => [
    image.id,
    image.type === 'custom' ? `Your image: ${formatImageName(image)}` : formatImageName(image),
  ]);
}
