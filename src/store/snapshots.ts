/** Snapshots of servers' disks. They outlive their server. */
import { parseId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import type { ServerStatus, SnapshotStatus } from '../spec/states.ts';
import { type Page, type PageSource, readPage } from './page.ts';

export interface SnapshotRow {
  readonly id: string;
  readonly customer_id: string;
  readonly server_id: string;
  readonly region_id: string;
  /** Of the server's disk: where it is restored there must be as much. */
  readonly disk_gb: number;
  readonly image_id: string;
  /** The disk of the server that was meant. */
  readonly generation: number;
  /** The driver has begun it. */
  readonly begun: boolean;
  readonly name: string;
  /** Decimal text with two decimals; 0 until ready. */
  readonly size_gb: string;
  readonly status: SnapshotStatus;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `id, customer_id, server_id, region_id, disk_gb, image_id, generation, begun, name, size_gb, status,
  expires_at, created_at`;

export type NewSnapshot = Omit<SnapshotRow, 'begun' | 'size_gb' | 'status' | 'generation'>;

/** Makes it, `creating`, of the disk that the server has now. */
export async function insertSnapshot(tx: Sql, row: NewSnapshot): Promise<SnapshotRow> {
  const [made] = await tx.rows<SnapshotRow>(
    `insert into snapshots (id, customer_id, server_id, region_id, disk_gb, image_id, name, expires_at, created_at,
                            generation, status)
     select $1, $2, s.id, $4, $5, $6, $7, $8, $9, s.generation, 'creating' from servers s where s.id = $3
     returning ${COLUMNS}`,
    [
      row.id,
      row.customer_id,
      row.server_id,
      row.region_id,
      row.disk_gb,
      row.image_id,
      row.name,
      row.expires_at,
      row.created_at,
    ],
  );
  if (!made) throw new Error('a snapshot without a server');
  return made;
}

export async function findSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<SnapshotRow | undefined> {
  return await tx.row<SnapshotRow>(`select ${COLUMNS} from snapshots where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** The customer's servers in the region of his snapshot whose disk is large enough for it. `limit` bounds them. */
export async function listServersForSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
  limit: number,
): Promise<readonly { readonly id: string; readonly category: 'vps' | 'dedicated' }[]> {
  return await tx.rows(
    `select s.id, p.category from snapshots n
       join servers s on s.customer_id = n.customer_id and s.region_id = n.region_id and s.disk_gb >= n.disk_gb
       join plans p on p.id = s.plan_id
      where n.id = $1 and n.customer_id = $2 limit $3`,
    [id, customerId, limit],
  );
}

export async function lockSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<SnapshotRow | undefined> {
  return await tx.row<SnapshotRow>(
    `select ${COLUMNS} from snapshots where id = $1 and customer_id = $2 for update`,
    [id, customerId],
  );
}

/** What a driver is to make, and its server as it is now: null once it is gone. */
export interface SnapshotWork extends SnapshotRow {
  readonly server_status: ServerStatus | null;
  readonly server_generation: number | null;
}

export async function findSnapshotWork(tx: Sql, id: string): Promise<SnapshotWork | undefined> {
  return await tx.row<SnapshotWork>(
    `select n.*, s.status as server_status, s.generation as server_generation
       from (select ${COLUMNS} from snapshots where id = $1) n left join servers s on s.id = n.server_id`,
    [id],
  );
}

const SNAPSHOT_PAGE_SOURCE = {
  columns: COLUMNS,
  id: { column: 'id', type: 'uuid' },
  filters: {
    status: { where: 'status = ?', indexed: true },
    name: { where: 'name = ?', indexed: true },
  },
} as const satisfies Partial<PageSource>;

/**
 * By name they are sorted byte by byte, which has two names. As with NULLS of page.ts, this tells three indexes apart: by name, by
 * status and name, and of one name. Where many rows have the cursor's name, a planner takes them for the same.
 */
function sortsFor(filter: PageRequest['filter']): PageSource['sorts'] {
  const collation = filter.status === undefined ? 'C' : 'POSIX';
  return {
    created_at: { column: 'created_at', type: 'timestamptz' },
    name: { column: `(name collate "${collation}")`, type: 'text' },
  };
}

/** The customer's snapshots; filters `server`, `status`, `name`. */
export async function pageSnapshots(
  tx: Sql,
  customerId: string,
  page: PageRequest,
): Promise<Page<SnapshotRow>> {
  const pages = { ...SNAPSHOT_PAGE_SOURCE, sorts: sortsFor(page.filter) };
  const { server, ...filter } = page.filter;
  if (server === undefined) {
    const all = { ...pages, from: 'snapshots', where: 'customer_id = ?', values: [customerId] };
    return await readPage<SnapshotRow>(tx, all, page);
  }
  const serverId = parseId('server', server);
  if (!serverId) return { rows: [], next: null };
  // The quota bounds those of one server. They are read before anything else is asked: a planner cannot know that the
  // other filters and the order have far more to go through.
  const from = '(select * from snapshots where customer_id = ? and server_id = ? offset 0) as of_server';
  const few = { ...pages, from, where: 'true', values: [customerId, serverId] };
  return await readPage<SnapshotRow>(tx, few, { ...page, filter });
}

/** How many the customer has, of all servers; counts to `limit` and no further. */
export async function countSnapshots(tx: Sql, customerId: string, limit: number): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from (select 1 from snapshots where customer_id = $1 limit $2) as held`,
    [customerId, limit],
  );
  return Number(row?.count ?? 0n);
}

/** How many the server has: the quota bounds it. The caller holds the server's lock. */
export async function countServerSnapshots(tx: Sql, customerId: string, serverId: string): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from snapshots where customer_id = $1 and server_id = $2`,
    [customerId, serverId],
  );
  return Number(row?.count ?? 0n);
}

export async function markSnapshotStarted(tx: Sql, id: string): Promise<void> {
  await tx.run(`update snapshots set begun = true where id = $1 and not begun`, [id]);
}

/** Whether one of the server's is being made, of those that the driver has begun or that were asked for since then. */
export async function hasSnapshotInProgress(tx: Sql, serverId: string, since: Date): Promise<boolean> {
  const found = await tx.row(
    `select from servers s join snapshots n on n.customer_id = s.customer_id and n.server_id = s.id
      where s.id = $1 and n.status = 'creating' and (n.begun or n.created_at > $2) limit 1`,
    [serverId, since],
  );
  return found !== undefined;
}

/** Ends the making of it; undefined when it has ended before. */
export async function finishSnapshot(
  tx: Sql,
  end: { readonly id: string; readonly status: 'ready' | 'error'; readonly sizeGb: number },
): Promise<SnapshotRow | undefined> {
  return await tx.row<SnapshotRow>(
    `update snapshots set status = $2, size_gb = $3 where id = $1 and status = 'creating' returning ${COLUMNS}`,
    [end.id, end.status, end.sizeGb],
  );
}

export async function deleteSnapshot(tx: Sql, id: string): Promise<void> {
  await tx.run(`delete from snapshots where id = $1`, [id]);
}

/** Whether a server is just being restored from it. The caller holds the snapshot's lock. */
export async function isBeingRestored(tx: Sql, id: string): Promise<boolean> {
  return (await tx.row(`select from operations where snapshot_id = $1 limit 1`, [id])) !== undefined;
}
