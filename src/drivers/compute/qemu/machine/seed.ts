/**
 * The seed CD for a guest's cloud-init (NoCloud source). The customer's user data is passed byte for byte.
 * The SSH keys are meta-data, which user data cannot replace. The password is vendor data, which user data
 * overrides where both set the same option.
 */

import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineSpec } from '../../../../ports/compute.ts';
import { CommandFailedError, run } from '../command.ts';
import { commitFile, exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { GATEWAY_V6 } from '../net/link.ts';
import type { StoredSpec } from '../record.ts';
import { cleanSeedPath, createMachineFolder, rescuePath, seedPath } from './disks.ts';
import { keptConfig } from './kept-config.ts';

/** DNS resolvers of a guest, unless it configures its own. */
const NAME_SERVERS = ['9.9.9.9', '2620:fe::fe'];
const BURN_ATTEMPTS = 5;
const BOUNDARY = 'part-of-vendor-data';

export type Addresses = Pick<MachineSpec, 'ipv4' | 'ipv6'> & { readonly mac: string };

export interface Seed {
  /** A guest applies a seed once per instance id. */
  readonly instanceId: string;
  /** Null: the guest keeps its hostname, keys, and identity, and takes only the addresses. */
  readonly hostname: string | null;
  /** The guest keeps the host name that it has. */
  readonly preserveHostname?: boolean;
  readonly sshKeys: readonly string[];
  readonly rootPasswordHash: string | null;
  readonly userData: Uint8Array | null;
  readonly addresses: Addresses;
}

export type SeedFiles = Readonly<
  Record<'meta-data' | 'user-data' | 'vendor-data' | 'network-config', string | Uint8Array>
>;

export function renderSeed(seed: Seed): SeedFiles {
  return {
    'meta-data': metaData(seed),
    'user-data': seed.userData ?? '',
    'vendor-data': vendorData(seed),
    'network-config': networkConfig(seed.addresses),
  };
}

/**
 * Returns the seed of a finished install: same instance and addresses, without secrets. cloud-init reads it
 * at every boot. User data that we cannot read may have set a host name, which the guest then keeps.
 */
export function withoutSecrets(seed: Seed): Seed {
  const kept = seed.userData === null ? '' : keptConfig(seed.userData);
  return {
    ...seed,
    sshKeys: [],
    rootPasswordHash: null,
    userData: kept ? Buffer.from(kept) : null,
    preserveHostname: kept === null,
  };
}

function metaData({ instanceId, hostname, sshKeys }: Seed): string {
  return joinLines(
    `instance-id: ${quote(instanceId)}`,
    ...(hostname === null ? [] : [`local-hostname: ${quote(hostname)}`]),
    ...(sshKeys.length === 0 ? [] : ['public-keys:', ...sshKeys.map((key) => `  - ${quote(key)}`)]),
  );
}

function vendorData({ hostname, preserveHostname, rootPasswordHash: hash }: Seed): string {
  const config = joinLines(
    '#cloud-config',
    // The customer owns the machine, so the keys are root's.
    'disable_root: false',
    ...(hostname === null || preserveHostname ? ['preserve_hostname: true'] : []),
    ...(hostname === null ? ['ssh_deletekeys: false'] : []),
    ...(hash === null ? [] : ['ssh_pwauth: true', 'chpasswd:', '  expire: false', '  users:']),
    ...(hash === null ? [] : ['    - name: root', `      password: ${quote(hash)}`, '      type: hash']),
  );
  if (hash === null) return config;
  return joinLines(
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    'MIME-Version: 1.0',
    '',
    ...mimePart('text/cloud-config', config),
    ...mimePart('text/x-shellscript', PERMIT_ROOT_LOGIN),
    `--${BOUNDARY}--`,
  );
}

/** cloud-init enables password logins, but sshd has a separate option for root. Its first occurrence wins. */
const PERMIT_ROOT_LOGIN = `#!/bin/sh
config=/etc/ssh/sshd_config
[ -f $config ] || exit 0
sed -i '1i PermitRootLogin yes' $config
systemctl try-reload-or-restart ssh 2>/dev/null || systemctl try-reload-or-restart sshd 2>/dev/null ||
  service sshd reload || true
`;

function mimePart(type: string, content: string): string[] {
  return [`--${BOUNDARY}`, `Content-Type: ${type}; charset="utf-8"`, '', content];
}

/** The guest's network is routed, not bridged: the gateway is on-link but outside the address's prefix. */
function networkConfig({ ipv4, ipv6, mac }: Addresses): string {
  return joinLines(
    'version: 2',
    'ethernets:',
    '  eth0:',
    '    match:',
    `      macaddress: ${quote(mac)}`,
    '    set-name: eth0',
    '    dhcp4: false',
    '    dhcp6: false',
    '    accept-ra: false',
    '    addresses:',
    `      - ${quote(`${ipv4.address}/32`)}`,
    `      - ${quote(`${ipv6.address}/64`)}`,
    '    routes:',
    ...routeLines('0.0.0.0/0', ipv4.gateway),
    ...routeLines('::/0', GATEWAY_V6),
    '    nameservers:',
    '      addresses:',
    ...NAME_SERVERS.map((server) => `        - ${quote(server)}`),
  );
}

function routeLines(to: string, via: string): string[] {
  return [`      - to: ${quote(to)}`, `        via: ${quote(via)}`, '        on-link: true'];
}

function joinLines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}

/** JSON strings are valid YAML. */
function quote(text: string): string {
  return JSON.stringify(text);
}

/** Writes the two seeds of an install: the full one, and one without secrets that replaces it afterward. */
export async function writeSeeds(
  host: QemuHost,
  spec: MachineSpec,
  content: 'image' | 'snapshot',
): Promise<void> {
  // A system from a snapshot keeps its hostname, keys, and passwords.
  const isNew = content === 'image';
  const seed: Seed = {
    instanceId: `${spec.id}-${spec.generation}`,
    hostname: isNew ? spec.hostname : null,
    sshKeys: isNew ? spec.sshKeys : [],
    rootPasswordHash: isNew ? spec.rootPasswordHash : null,
    userData: isNew && spec.image.cloudInit ? spec.userData : null,
    addresses: { ipv4: spec.ipv4, ipv6: spec.ipv6, mac: host.mac(spec.id) },
  };
  await writeSeed(host, spec.id, withoutSecrets(seed), cleanSeedPath(host, spec.id, spec.generation));
  await writeSeed(host, spec.id, seed, seedPath(host, spec.id, spec.generation));
}

/** Call when the install is done: from the next start on, its secrets are no longer on this host. */
export async function dropSecrets(host: QemuHost, id: string, generation: number): Promise<void> {
  const done = cleanSeedPath(host, id, generation);
  if (await exists(done)) await rename(done, seedPath(host, id, generation));
}

export async function writeRescueSeed(
  host: QemuHost,
  spec: StoredSpec,
  { passwordHash, digest }: { readonly passwordHash: string; readonly digest: string },
): Promise<void> {
  const seed: Seed = {
    instanceId: `${spec.id}-rescue-${digest.slice(0, 16)}`,
    hostname: 'rescue',
    sshKeys: [],
    rootPasswordHash: passwordHash,
    userData: null,
    addresses: { ipv4: spec.ipv4, ipv6: spec.ipv6, mac: host.mac(spec.id) },
  };
  await writeSeed(host, spec.id, seed, rescuePath(host, spec.id, 'rescue-seed.iso'));
}

/** Builds the CD. Its source files are in the machine's folder meanwhile, readable only by root. */
async function writeSeed(host: QemuHost, id: string, seed: Seed, path: string): Promise<void> {
  await createMachineFolder(host, id);
  const tempPath = `${path}.new`;
  const sourceFolder = join(host.layout.machine(id), 'seed.new');
  await rm(sourceFolder, { recursive: true, force: true });
  await mkdir(sourceFolder, { mode: 0o700 });
  try {
    for (const [name, text] of Object.entries(renderSeed(seed)))
      await writeFile(join(sourceFolder, name), text);
    await burnImage(sourceFolder, tempPath);
    await commitFile(tempPath, path);
  } finally {
    await rm(sourceFolder, { recursive: true, force: true });
  }
}

/** xorriso 1.5.4 of Debian 12 crashes in about 1 of 300 runs, so a run that crashed is repeated. */
async function burnImage(sourceFolder: string, path: string, attempt = 1): Promise<void> {
  // xorriso keeps the mode of an existing file.
  await rm(path, { force: true });
  await (await open(path, 'w', 0o600)).close();
  const args = ['-as', 'mkisofs', '-quiet', '-V', 'cidata', '-J', '-r', '-o', path, sourceFolder];
  try {
    await run('xorriso', args);
  } catch (error) {
    const isCrash = error instanceof CommandFailedError && error.stderr.includes('UNIX-SIGNAL');
    if (!isCrash || attempt === BURN_ATTEMPTS) throw error;
    await burnImage(sourceFolder, path, attempt + 1);
  }
}
