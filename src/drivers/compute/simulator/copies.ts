/**
 * Copies of simulated snapshots. The file is a line of JSON, from which the snapshot can be made again, and
 * filler that makes it as long as a small copy.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/sql.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type {
  CopyPart,
  CopyProgress,
  FetchedSnapshot,
  PreparedCopy,
  SnapshotCopies,
  StoredCopy,
} from '../../../ports/copies.ts';
import { CopyTransfers } from '../../copy-transfers.ts';
import type { Faults } from '../../faults.ts';
import { digestParts, partBytesFor, putPart, readSigned } from '../../signed-urls.ts';
import { hostUnreachable, type InstalledSystem } from './machine.ts';
import { isHostDown } from './move-progress.ts';
import { snapshotStateAt } from './snapshots.ts';

const MIB = 1024 ** 2;
/** Of filler for each GiB, and at most. */
const MIB_PER_GIB = 2;
const MIB_MAX = 24;
/** The least that stores accept. */
const PART_MIB = 5;

interface Content {
  readonly machine_id: string;
  readonly disk_gb: number;
  readonly size_gb: number;
  readonly installed: InstalledSystem;
}

export class SimulatedCopies implements SnapshotCopies {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #transfers = new CopyTransfers(null);

  constructor({ db, clock, faults }: { db: Database; clock: Clock; faults: Faults }) {
    this.#db = db;
    this.#clock = clock;
    this.#faults = faults;
  }

  async prepareCopy(id: string): Promise<PreparedCopy> {
    await this.#throwArmedFault('prepareCopy');
    const file = await this.#readFile(id);
    const partBytes = partBytesFor(file.length, PART_MIB);
    return { ...(await digestParts(Readable.from([file]), partBytes)), partBytes };
  }

  async sendCopy(id: string, parts: readonly CopyPart[]): Promise<CopyProgress> {
    await this.#throwArmedFault('sendCopy');
    const file = await this.#readFile(id);
    return await this.#transfers.run(id, async (signal, onBytes) => {
      for (const part of parts) {
        const bytes = file.subarray(part.offset, part.offset + part.sizeBytes);
        await putPart(part, Readable.from([bytes]), signal);
        onBytes(part.sizeBytes);
      }
    });
  }

  /** The file exists only while it is read. */
  async forgetCopy(id: string): Promise<void> {
    await this.#throwArmedFault('forgetCopy');
    await this.#transfers.end(id);
  }

  async fetchCopy(id: string, snapshot: FetchedSnapshot, copy: StoredCopy): Promise<CopyProgress> {
    await this.#throwArmedFault('fetchCopy');
    if (await isHostDown(this.#db, snapshot.host)) throw hostUnreachable(snapshot.host);
    const there = await this.#db.row('select from sim.snapshots where id = $1 and host = $2', [
      id,
      snapshot.host,
    ]);
    if (there) return { state: 'done', bytes: copy.sizeBytes, fault: null, message: null };
    return await this.#transfers.run(id, async (signal, onBytes) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of readSigned(copy.url, 0, signal)) {
        pieces.push(piece);
        onBytes(piece.length);
      }
      const file = Buffer.concat(pieces);
      if (createHash('sha256').update(file).digest('hex') !== copy.sha256)
        throw new ComputeError('host', 'the copy has another SHA-256 than when it was sent');
      await this.#store(id, snapshot.host, parse(file));
    });
  }

  async #store(id: string, host: string, content: Content): Promise<void> {
    const { machine_id, disk_gb, size_gb, installed } = content;
    await this.#db.run(
      `insert into sim.snapshots (id, machine_id, disk_gb, size_gb, installed, ready_at, failed, host)
       values ($id, $machine_id, $disk_gb, $size_gb, $installed::jsonb, $now, false, $host)
       on conflict (id) do update set host = excluded.host, installed = excluded.installed`,
      {
        id,
        machine_id,
        disk_gb,
        size_gb,
        installed: JSON.stringify(installed),
        host,
        now: this.#clock.now(),
      },
    );
  }

  async #readFile(id: string): Promise<Buffer> {
    const row = await this.#db.row<Content & { ready_at: Date; failed: boolean; host: string | null }>(
      `select machine_id, disk_gb, size_gb, installed, ready_at, failed, host
         from sim.snapshots where id = $1`,
      [id],
    );
    if (!row) throw new ComputeError('refused', 'snapshot not found');
    const { ready_at, failed, host, ...content } = row;
    if (host !== null && (await isHostDown(this.#db, host))) throw hostUnreachable(host);
    if (snapshotStateAt({ ...row, ready_at, failed }, this.#clock.now()).state !== 'ready')
      throw new ComputeError('refused', 'the snapshot is not ready');
    return fileOf(id, content);
  }

  async #throwArmedFault(verb: keyof SnapshotCopies): Promise<void> {
    if (await this.#faults.consume('compute', `copies.${verb}`))
      throw new ComputeError('transient', 'simulated fault');
  }
}

/** Always the same bytes for a snapshot. */
function fileOf(id: string, content: Content): Buffer {
  const line = Buffer.from(`${JSON.stringify(content)}\n`);
  const key = createHash('sha256').update(id).digest();
  const zeros = Buffer.alloc(Math.round(Math.min(content.size_gb * MIB_PER_GIB, MIB_MAX) * MIB));
  return Buffer.concat([line, createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(zeros)]);
}

function parse(file: Buffer): Content {
  return JSON.parse(file.subarray(0, file.indexOf(0x0a)).toString()) as Content;
}
