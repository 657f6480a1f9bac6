/**
 * File layout. Everything that must survive a restart of the host is below one folder. Sockets and process
 * ids are in /run, which a restart empties.
 *
 *   images/<sha256>.qcow2   imported disks, never written again
 *   images/rescue.json      the image that rescue systems boot
 *   iso/<sha256>.iso        customers' ISO images that the host received
 *   incoming/<sha256>       files that the host is receiving
 *   machines/<id>/          machine.json, disk-<generation>.qcow2, seed-<generation>.iso, …;
 *                           iso-<sha256>.iso is inserted;
 *                           volumes/ and snapshots/ have links to what its QEMU has open;
 *                           incoming.json instead of machine.json while it is moved to this host
 *   volumes/<id>.qcow2      volumes/<id>.json
 *   snapshots/<id>.qcow2    snapshots/<id>.json
 *   moves/<id>.json         moves to this host, with their keys
 *   moves/<id>.qcow2        a volume or snapshot that arrived; `part` before
 *   copies/<id>.qcow2       a copy of a snapshot for the store of files, or from there; `part` before
 *   copies/<id>.json        its record
 *   server-blocks.json      the private blocks that servers have their addresses from
 *   locks/<name>             reserve
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** A socket path has at most 107 bytes, and the data folder may have a longer path. */
const RUN_DIR = '/run/skerry';

/** Folders whose files a running QEMU opens and closes. */
export const LENT_KINDS = ['volumes', 'snapshots'] as const;
export type LentKind = (typeof LENT_KINDS)[number];

/** Ids become file names, so anything else is rejected. */
const ID = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$/;

export function isId(name: string): boolean {
  return ID.test(name);
}

export class Layout {
  readonly dir: string;
  /** Sockets and process ids of the machines in this folder. */
  readonly runDir: string;

  constructor(dir: string) {
    this.dir = dir;
    this.runDir = join(RUN_DIR, createHash('sha256').update(dir).digest('hex').slice(0, 12));
  }

  images(): string {
    return join(this.dir, 'images');
  }
  image(sha256: string): string {
    return join(this.images(), `${requireId(sha256)}.qcow2`);
  }
  isoFolder(): string {
    return join(this.dir, 'iso');
  }
  iso(sha256: string): string {
    return join(this.isoFolder(), `${requireId(sha256)}.iso`);
  }
  incoming(): string {
    return join(this.dir, 'incoming');
  }
  incomingFile(sha256: string): string {
    return join(this.incoming(), requireId(sha256));
  }
  machines(): string {
    return join(this.dir, 'machines');
  }
  machine(id: string, ...file: readonly string[]): string {
    return join(this.machines(), requireId(id), ...file);
  }
  disk(id: string, generation: number): string {
    return this.machine(id, `disk-${generation}.qcow2`);
  }
  /**
   * Path of an unfinished disk of that generation. It is tied to one snapshot, so no other copy continues it.
   */
  diskCopy(id: string, generation: number, snapshotId: string): string {
    const digest = createHash('sha256').update(snapshotId).digest('hex').slice(0, 20);
    return this.machine(id, `copy-${generation}-${digest}.qcow2`);
  }
  /** A machine's links to volumes or snapshots that its QEMU has open. */
  lentFolder(id: string, kind: LentKind): string {
    return this.machine(id, kind);
  }
  volumes(): string {
    return join(this.dir, 'volumes');
  }
  volume(id: string, extension: 'qcow2' | 'json'): string {
    return join(this.volumes(), `${requireId(id)}.${extension}`);
  }
  snapshots(): string {
    return join(this.dir, 'snapshots');
  }
  snapshot(id: string, ending: 'qcow2' | 'json'): string {
    return join(this.snapshots(), `${requireId(id)}.${ending}`);
  }
  moves(): string {
    return join(this.dir, 'moves');
  }
  move(id: string): string {
    return join(this.moves(), `${requireId(id)}.json`);
  }
  /**
   * The file of a volume or snapshot on its way. `part`: not checked yet. `flat`: on the source, the content
   * of a snapshot without its image.
   */
  movedDisk(moveId: string, ending: 'part' | 'qcow2' | 'flat'): string {
    return join(this.moves(), `${requireId(moveId)}.${ending}`);
  }
  copies(): string {
    return join(this.dir, 'copies');
  }
  /** `part`: not complete. */
  copy(snapshotId: string, ending: 'part' | 'qcow2' | 'json'): string {
    return join(this.copies(), `${requireId(snapshotId)}.${ending}`);
  }
  serverBlocks(): string {
    return join(this.dir, 'server-blocks.json');
  }
  lock(name: string): string {
    return join(this.dir, 'locks', requireId(name));
  }
  /** An empty folder that each machine's mount namespace covers with its own root. */
  emptyRoot(): string {
    return join(this.runDir, 'root');
  }
  /**
   * A file of a running machine. `look` is a second QMP socket for queries, free while other work uses `qmp`.
   * The last two are sockets of a move: its QEMU listens on the target, and we listen on the source.
   */
  runtimeFile(id: string, file: 'qmp' | 'look' | 'vnc' | 'pid' | 'move-disks' | 'move-memory'): string {
    return join(this.runDir, createHash('sha256').update(id).digest('hex').slice(0, 20), file);
  }
}

function requireId(id: string): string {
  if (!isId(id)) throw new Error('the id cannot be used as a file name');
  return id;
}
