/** Volumes, and snapshots of servers. */
import type {
  CreateSnapshot,
  CreateVolume,
  Snapshot,
  UpdateSnapshot,
  UpdateVolume,
  Volume,
} from '@skerry/sdk';
import { InitFailed } from '../rpc/failure.ts';
import type { Values } from '../rpc/values.ts';
import {
  bodyOf,
  type Call,
  FLAG,
  findOrNull,
  INTEGER,
  LABELS,
  NAME,
  PROTECTION,
  type Resource,
  TEXT,
} from './resource.ts';

export const volume: Resource = {
  type: 'skerry:index:Volume',
  about: 'A disk that outlives servers. A replacement is empty.',
  inputs: {
    name: NAME,
    sizeGb: { shape: INTEGER, about: 'Size in GiB. It cannot shrink.', required: true, change: 'update' },
    region: { shape: TEXT, about: 'Code of the region.', required: true, change: 'replace' },
    encrypted: { shape: FLAG, about: 'Whether the volume is encrypted.', change: 'replace' },
    filesystem: { shape: TEXT, about: 'File system, for your own records.', change: 'replace' },
    labels: LABELS,
    protection: PROTECTION,
    server: {
      shape: TEXT,
      about: 'ID of the server that the volume is attached to. Unmount the volume before you change this.',
      change: 'update',
    },
  },
  outputs: { device: { shape: TEXT, about: 'Path of the block device while attached.' } },
  check: ({ sizeGb }, olds) =>
    typeof sizeGb === 'number' && typeof olds.sizeGb === 'number' && sizeGb < olds.sizeGb
      ? [{ property: 'sizeGb', reason: `a volume cannot shrink: it has ${olds.sizeGb} GiB` }]
      : [],
  create: async (call, inputs) => {
    const { skerry, signal } = call;
    const fields = ['name', 'sizeGb', 'region', 'encrypted', 'filesystem', 'labels', 'protection'];
    const made = await skerry.volumes.create(bodyOf<CreateVolume>(inputs, fields), { signal });
    try {
      const { server } = inputs;
      const isAttached = typeof server === 'string';
      const current = isAttached ? await skerry.volumes.attach(made.id, { server }, { signal }) : made;
      return { id: made.id, state: volumeValues(current) };
    } catch (error) {
      throw new InitFailed(made.id, volumeValues(made), error);
    }
  },
  read: async ({ skerry, signal }, id) => {
    const found = await findOrNull(skerry.volumes.get(id, { signal }));
    return found && volumeValues(found);
  },
  update: async (call, id, { changed }) => {
    const { skerry, signal } = call;
    const body = bodyOf<UpdateVolume>(changed, ['name', 'sizeGb', 'labels', 'protection']);
    if (Object.keys(body).length > 0) await skerry.volumes.update(id, body, { signal });
    if (changed.server === undefined) return;
    await detach(call, id);
    if (typeof changed.server !== 'string') return;
    await skerry.volumes.attach(id, { server: changed.server }, { signal });
  },
  delete: async (call, id) => {
    const { skerry, signal } = call;
    const found = await findOrNull(skerry.volumes.get(id, { signal }));
    // The program attached it. A protected volume stays attached: the service refuses to delete it.
    if (found && !found.protection.delete) await detach(call, id);
    await findOrNull(skerry.volumes.delete(id, { signal }));
  },
};

async function detach({ skerry, signal }: Call, id: string): Promise<void> {
  const found = await findOrNull(skerry.volumes.get(id, { signal }));
  if (found && found.attached_to !== null) await skerry.volumes.detach(id, { signal });
}

function volumeValues(found: Volume): Values {
  return {
    name: found.name,
    sizeGb: found.size_gb,
    region: found.region,
    encrypted: found.encrypted,
    filesystem: found.filesystem,
    labels: found.labels,
    protection: { delete: found.protection.delete },
    server: found.attached_to,
    device: found.device,
  };
}

export const snapshot: Resource = {
  type: 'skerry:index:Snapshot',
  about: 'A copy of the disk of a server at the time when it is created.',
  inputs: {
    name: NAME,
    server: { shape: TEXT, about: 'ID of the server.', required: true, change: 'replace' },
    expiresAt: { shape: TEXT, about: 'When it is deleted automatically (RFC 3339).', change: 'update' },
    labels: LABELS,
    protection: PROTECTION,
  },
  outputs: {
    status: { shape: TEXT, about: 'Status when the snapshot was last read.' },
    snapshotSizeGb: { shape: { type: 'number' }, about: 'Size in GiB.' },
  },
  create: async ({ skerry, signal, timeoutMs }, inputs) => {
    const body = bodyOf<CreateSnapshot>(inputs, ['name', 'expiresAt', 'labels', 'protection']);
    const made = await skerry.snapshots.create(String(inputs.server), body, { signal });
    try {
      const ready = await skerry.waitFor(made, 'ready', { signal, timeoutMs });
      return { id: made.id, state: snapshotValues(ready, inputs) };
    } catch (error) {
      throw new InitFailed(made.id, snapshotValues(made, inputs), error);
    }
  },
  read: async ({ skerry, signal }, id, state) => {
    const found = await findOrNull(skerry.snapshots.get(id, { signal }));
    return found && snapshotValues(found, state);
  },
  update: async ({ skerry, signal }, id, { changed }) => {
    const body = bodyOf<UpdateSnapshot>(changed, ['name', 'expiresAt', 'labels', 'protection']);
    await skerry.snapshots.update(id, body, { signal });
  },
  delete: async ({ skerry, signal }, id) => {
    await findOrNull(skerry.snapshots.delete(id, { signal }));
  },
};

function snapshotValues(found: Snapshot, state: Values): Values {
  const { expires_at: expiresAt } = found;
  const { expiresAt: given } = state;
  // The same time in another notation is not a change.
  const isSame =
    typeof given === 'string' && expiresAt !== null && Date.parse(given) === Date.parse(expiresAt);
  return {
    name: found.name,
    server: found.server,
    expiresAt: isSame ? given : expiresAt,
    labels: found.labels,
    protection: { delete: found.protection.delete },
    status: found.status,
    snapshotSizeGb: found.size_gb,
  };
}
