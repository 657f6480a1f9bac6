/** Snapshots of servers' disks. A snapshot outlives its server. */
import { parseId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import type { ServerStatus, SnapshotStatus } from '../spec/states.ts';
import type { Reach } from '../spec/token-limits.ts';
import { ACTION_COLUMNS, joinAction, type ShownAction } from './actions.ts';
import { pageInside } from './customers/reach.ts';
import { BY_CREATION, byLabels, countUpTo, type Page, type PageSource, readPage } from './page.ts';
import { assignmentsFor, parametersFor } from './parameters.ts';

export interface SnapshotRow extends Partial<ShownAction> {
  readonly id: string;
  readonly customer_id: string;
  readonly server_id: string;
  readonly region_id: string;
  /** The size of the server's disk: a restore needs at least as much. */
  readonly disk_gb: number;
  readonly image_id: string;
  /** The disk generation of the server that was snapshotted. */
  readonly generation: number;
  /** It is on storage that the hosts of its region share, like the disk of its server. */
  readonly shared: boolean;
  /** The driver has started it. */
  readonly begun: boolean;
  readonly name: string;
  /** Decimal text with two decimals; 0 until ready. */
  readonly size_gb: string;
  readonly status: SnapshotStatus;
  readonly type: 'manual' | 'backup';
  readonly labels: Readonly<Record<string, string>>;
  readonly protect_delete: boolean;
  /** When the host was lost that had it. */
  readonly lost_at: Date | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `id, customer_id, server_id, region_id, disk_gb, image_id, generation, shared, begun, name,
  size_gb, status, type, labels, protect_delete, lost_at, expires_at, created_at`;

const NEW = `id, customer_id, server_id, region_id, disk_gb, image_id, name, type, labels, protect_delete,
  expires_at, created_at`;

export type NewSnapshot = Omit<
  SnapshotRow,
  'begun' | 'size_gb' | 'status' | 'generation' | 'shared' | 'lost_at'
>;

/** Inserts a snapshot of the server's current disk, with status `creating`. */
export async function insertSnapshot(tx: Sql, row: NewSnapshot): Promise<SnapshotRow> {
  const [inserted] = await tx.rows<SnapshotRow>(
    `insert into snapshots (${NEW}, generation, shared, host_id, status)
     select ${parametersFor(NEW)}, s.generation, s.shared_disk,
            case when not s.shared_disk then s.host_id end, 'creating'
       from servers s where s.id = $server_id
     returning ${COLUMNS}`,
    row,
  );
  if (!inserted) throw new Error('the server of the snapshot does not exist');
  return inserted;
}

export async function findSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<SnapshotRow | undefined> {
  return await tx.row<SnapshotRow>(
    `select ${COLUMNS}, ${ACTION_COLUMNS} from snapshots ${joinAction('snapshots.id')}
      where id = $1 and customer_id = $2`,
    [id, customerId],
  );
}

/** Lists the customer's servers in its region, on the same storage, and large enough; at most `limit`. */
export async function listServersForSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
  limit: number,
): Promise<readonly { readonly id: string; readonly category: 'vps' | 'dedicated' }[]> {
  return await tx.rows(
    `select s.id, p.category from snapshots n
       join servers s
         on s.customer_id = n.customer_id and s.region_id = n.region_id and s.disk_gb >= n.disk_gb
            and s.shared_disk = n.shared
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

/** A snapshot for the driver, with the current state of its server: null once that is deleted. */
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
  columns: `${COLUMNS}, ${ACTION_COLUMNS}`,
  filters: {
    status: { where: 'status = $status', indexed: true },
    name: { where: 'name = $name', indexed: true },
    type: { where: 'type = $type' },
    label: byLabels('labels'),
  },
} as const satisfies Partial<PageSource>;

/**
 * Names sort byte by byte, with one of two equivalent collations. Like NULLS in page.ts, the collation
 * selects the index: by name, or by status and name. When many rows have the cursor's name, the planner
 * considers them equal.
 */
function sortsFor(filter: PageRequest['filter']): PageSource['sorts'] {
  const collation = filter.status === undefined ? 'C' : 'POSIX';
  return {
    ...BY_CREATION,
    name: { column: `(name collate "${collation}")`, type: 'text' },
  };
}

/** Pages through the customer's snapshots. Filters: `server`, `status`, `name`, `type`, `label`. */
export async function pageSnapshots(
  tx: Sql,
  customerId: string,
  page: PageRequest,
  reach?: Reach | null,
): Promise<Page<SnapshotRow>> {
  const pages = { ...SNAPSHOT_PAGE_SOURCE, sorts: sortsFor(page.filter) };
  const { server, ...filter } = page.filter;
  if (server === undefined) {
    const from = `snapshots ${joinAction('snapshots.id')}`;
    const all = { ...pages, from, where: 'customer_id = $customerId', values: { customerId } };
    return await readPage<SnapshotRow>(tx, pageInside(all, reach, 'snapshot'), page);
  }
  const serverId = parseId('server', server);
  if (!serverId) return { rows: [], next: null };
  // Quota and policy bound the snapshots of one server. `offset 0` makes the planner read them first: it
  // cannot know that the other filters and the order would scan far more rows.
  const from = `(select * from snapshots
    where customer_id = $customerId and server_id = $serverId offset 0) as of_server
    ${joinAction('of_server.id')}`;
  const few = { ...pages, from, where: 'true', values: { customerId, serverId } };
  return await readPage<SnapshotRow>(tx, pageInside(few, reach, 'snapshot'), { ...page, filter });
}

/** Counts the customer's snapshots of all servers, without backups, up to `limit`. */
export async function countSnapshots(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, `snapshots where customer_id = $customerId and type = 'manual'`, {
    customerId,
    limit,
  });
}

/** Counts the server's snapshots, without backups: the quota bounds them. The caller holds its lock. */
export async function countServerSnapshots(tx: Sql, customerId: string, serverId: string): Promise<number> {
  const row = await tx.row<{ count: bigint }>(
    `select count(*) from snapshots where customer_id = $1 and server_id = $2 and type = 'manual'`,
    [customerId, serverId],
  );
  return Number(row?.count ?? 0n);
}

export async function markSnapshotStarted(tx: Sql, id: string): Promise<void> {
  await tx.run(`update snapshots set begun = true where id = $1 and not begun`, [id]);
}

/**
 * Whether a snapshot of the server is being created that the driver started or that was requested after
 * `since`.
 */
export async function hasSnapshotInProgress(tx: Sql, serverId: string, since: Date): Promise<boolean> {
  const found = await tx.row(
    `select from servers s join snapshots n on n.customer_id = s.customer_id and n.server_id = s.id
      where s.id = $1 and n.status = 'creating' and (n.begun or n.created_at > $2) limit 1`,
    [serverId, since],
  );
  return found !== undefined;
}

/** Finishes a snapshot; undefined when it had already finished. */
export async function finishSnapshot(
  tx: Sql,
  end: { readonly id: string; readonly status: 'ready' | 'error'; readonly sizeGb: number },
): Promise<SnapshotRow | undefined> {
  return await tx.row<SnapshotRow>(
    `update snapshots set status = $2, size_gb = $3, host_id = case when $2 = 'ready' then host_id end
      where id = $1 and status = 'creating' returning ${COLUMNS}`,
    [end.id, end.status, end.sizeGb],
  );
}

/** Ends a snapshot that was lost; undefined when it had already failed. */
export async function loseSnapshot(tx: Sql, id: string): Promise<SnapshotRow | undefined> {
  return await tx.row<SnapshotRow>(
    `update snapshots set status = 'error', size_gb = 0, host_id = null
      where id = $1 and lost_at is not null and status <> 'error' returning ${COLUMNS}`,
    [id],
  );
}

/** Updates name, expiry, labels, and protection. The caller holds the snapshot's lock. */
export async function updateSnapshot(
  tx: Sql,
  change: Pick<SnapshotRow, 'id' | 'name' | 'expires_at' | 'labels' | 'protect_delete'>,
): Promise<SnapshotRow> {
  const row = await tx.row<SnapshotRow>(
    `update snapshots set ${assignmentsFor('name, expires_at, labels, protect_delete')}
      where id = $id returning ${COLUMNS}`,
    change,
  );
  if (!row) throw new Error('a locked snapshot does not exist');
  return row;
}

export async function deleteSnapshot(tx: Sql, id: string): Promise<void> {
  await tx.run(`delete from snapshots where id = $1`, [id]);
}

/** Whether a server is being created or restored from the snapshot. The caller holds the snapshot's lock. */
export async function isBeingRestored(tx: Sql, id: string): Promise<boolean> {
  const found = await tx.row(
    `select from operations where snapshot_id = $1 and kind in ('provision', 'restore') limit 1`,
    [id],
  );
  return found !== undefined;
}
