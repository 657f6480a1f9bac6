/**
 * Builds the seed CD. Its source files are in the machine's folder while it is built, readable only by root.
 */
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import type { StoredSpec } from '../record.ts';
import { cleanSeedPath, commitFile, createMachineFolder, exists, rescuePath, seedPath } from './disks.ts';
import { renderSeed, type Seed, withoutSecrets } from './seed-files.ts';

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

async function writeSeed(host: QemuHost, id: string, seed: Seed, path: string): Promise<void> {
  await createMachineFolder(host, id);
  const tempPath = `${path}.new`;
  const sourceFolder = join(host.layout.machine(id), 'seed.new');
  await rm(sourceFolder, { recursive: true, force: true });
  await mkdir(sourceFolder, { mode: 0o700 });
  try {
    for (const [name, text] of Object.entries(renderSeed(seed)))
      await writeFile(join(sourceFolder, name), text);
    // xorriso keeps the mode of an existing file.
    await rm(tempPath, { force: true });
    await (await open(tempPath, 'w', 0o600)).close();
    const args = ['-as', 'mkisofs', '-quiet', '-V', 'cidata', '-J', '-r', '-o', tempPath, sourceFolder];
    await host.run('xorriso', args);
    await commitFile(tempPath, path);
  } finally {
    await rm(sourceFolder, { recursive: true, force: true });
  }
}
