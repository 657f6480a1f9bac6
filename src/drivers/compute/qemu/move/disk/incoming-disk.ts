/**
 * A volume or snapshot that is being moved to this host. Its record and its file have the name of the move,
 * so nothing takes it for the volume or snapshot until `takeOver`. The file has the ending `part` until its
 * content was checked.
 */
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { undefinedIfMissing } from '../../../../../kernel/files.ts';
import type { DiskMove, MovedDisk } from '../../../../../ports/moves.ts';
import { writeJson } from '../../files.ts';
import type { QemuHost } from '../../host.ts';
import { isId, type Layout } from '../../layout.ts';
import { allocatedBytes, GIB } from '../../space.ts';

export interface IncomingDisk extends MovedDisk {
  readonly disk: DiskMove['disk'];
  /** Of the transfer, in hex. */
  readonly key: string;
}

export async function writeIncomingDisk(
  layout: Layout,
  moveId: string,
  incoming: IncomingDisk,
): Promise<void> {
  await mkdir(layout.moves(), { recursive: true, mode: 0o700 });
  await writeJson(layout.move(moveId), incoming);
}

/** TLS asks for the key without waiting, so this blocks for a small file. */
export function readIncomingDisk(layout: Layout, moveId: string): IncomingDisk | undefined {
  if (!isId(moveId)) return undefined;
  try {
    const record = JSON.parse(readFileSync(layout.move(moveId), 'utf8')) as Partial<IncomingDisk>;
    // Moves of machines have records there, too.
    return record.disk === undefined ? undefined : (record as IncomingDisk);
  } catch {
    // There is no such move, or it has just ended.
    return undefined;
  }
}

/** Deletes everything that arrived. */
export async function removeIncomingDisk(layout: Layout, moveId: string): Promise<void> {
  for (const ending of ['part', 'qcow2'] as const)
    await rm(layout.movedDisk(moveId, ending), { force: true });
  await rm(layout.move(moveId), { force: true });
}

/** The size of the disk that arrives, in GiB: a guest sees as much. */
export function diskSizeGb({ sizeGb, snapshot }: MovedDisk): number {
  return snapshot?.diskGb ?? sizeGb;
}

/** Returns the bytes that volumes and snapshots being moved to this host may yet write. */
export async function outstandingOfIncomingDisks({ layout }: QemuHost): Promise<number[]> {
  const names = (await readdir(layout.moves()).catch(undefinedIfMissing)) ?? [];
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => basename(name, '.json'));
  return await Promise.all(
    ids.map(async (id) => {
      const incoming = readIncomingDisk(layout, id);
      if (incoming === undefined) return 0;
      const arrived =
        (await allocatedBytes(layout.movedDisk(id, 'part'))) ??
        (await allocatedBytes(layout.movedDisk(id, 'qcow2')));
      return Math.max(0, incoming.sizeGb * GIB - (arrived ?? 0));
    }),
  );
}
