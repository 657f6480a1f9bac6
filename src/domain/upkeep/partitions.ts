/**
 * Adds partitions ahead of time, and drops those whose rows have all expired. A partition in which a row must
 * stay (a delivery to be sent, an event of one) loses its other rows one by one, and is dropped later.
 */
import { Deadline, runWithin } from '../../kernel/faults/deadline.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';
import { CHECK_VIOLATION, LOCK_NOT_AVAILABLE, sqlState } from '../../store/connections/errors.ts';
import {
  addPartition,
  beginChange,
  dropPartition,
  endGoingBack,
  hasRows,
  limitDefault,
  maySplit,
  PARTITIONED,
  PARTITIONED_NAMES,
  type Partition,
  type PartitionedName,
  type PartitionedTable,
  proveLimit,
  readPartitions,
} from '../../store/service/partitions.ts';
import { isTimeInDoubt } from '../billing/leap.ts';
import type { Service } from '../context.ts';
import { purgeExpired, RETENTION } from './retention.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'log'> & { readonly settings: Pick<Service['settings'], 'mode'> };

/** The table is in use, or the default partition got a row of the new one meanwhile. */
const MAY_FAIL: readonly string[] = [LOCK_NOT_AVAILABLE, CHECK_VIOLATION];
/** Up to this size, a default partition is read under a lock. */
const READ_MAX_BYTES = 64 * 2 ** 20;
/** The time for a proof that a larger one has no rows of the partition that is added. */
const PROOF_MS = HOUR_MS;
/** Empty partitions that begin later are left from a clock that was set back. */
const LATEST_MS = 60 * DAY_MS;

/** Yields how many partitions were dropped, and rows deleted from those that must stay. */
export async function* tendPartitions(service: Deps): AsyncGenerator<number> {
  for (const name of PARTITIONED_NAMES) {
    const table = await readPartitions(service.db, PARTITIONED[name]);
    await addAhead(service, name, table);
    for (const partition of table.partitions) yield* removeExpired(service, name, partition);
  }
  yield 0;
}

/**
 * Runs a change of partitions. Undefined: it is not possible now, or another process is at one. The next
 * round tries again.
 */
async function change<T>({ db }: Deps, work: (tx: Sql) => Promise<T>): Promise<T | undefined> {
  try {
    return await db.transaction(async (tx) => ((await beginChange(tx)) ? await work(tx) : undefined));
  } catch (error) {
    if (MAY_FAIL.includes(sqlState(error))) return undefined;
    throw error;
  }
}

async function* removeExpired(
  service: Deps,
  name: PartitionedName,
  partition: Partition,
): AsyncGenerator<number> {
  if (await isTimeInDoubt(service)) return;
  const now = service.clock.now();
  const { keepMs } = RETENTION[name];
  const isPast = partition.untilMs <= now.getTime() - keepMs;
  if (!isPast && partition.fromMs <= now.getTime() + LATEST_MS) return;
  const dropped = await change(service, async (tx) => {
    if (!isPast && (await hasRows(tx, PARTITIONED[name], partition))) return undefined;
    return await dropPartition(tx, PARTITIONED[name], partition, now);
  });
  if (dropped) service.log.info({ partition: partition.name }, 'partition dropped');
  if (dropped) yield 1;
  else if (dropped === false) yield* purgeExpired(service, name, partition.name);
}

/** Adds the partition of now and the next one, unless they are there. */
async function addAhead(service: Deps, name: PartitionedName, table: PartitionedTable): Promise<void> {
  const partitioning = PARTITIONED[name];
  // Left by a process that was killed: it would refuse rows.
  if (table.limited) await change(service, (tx) => limitDefault(tx, partitioning, null));
  const { widthMs } = partitioning;
  const now = service.clock.now().getTime();
  const current = now - (now % widthMs);
  const missing = [current, current + widthMs].filter((fromMs) => !isTaken(table, fromMs, widthMs));
  if (missing.length === 0 || !(await maySplit(service.db))) return;
  for (const fromMs of missing) {
    // Rows of that time are in the default partition, and stay there.
    if (await hasRows(service.db, partitioning, { fromMs, untilMs: fromMs + widthMs })) continue;
    // A sandbox is small, and its clock may pass any time during a proof.
    const isLarge = table.defaultBytes > READ_MAX_BYTES && service.settings.mode === 'live';
    if (!isLarge) await add(service, name, fromMs);
    else if (fromMs > now + PROOF_MS) await addToLarge(service, name, fromMs);
  }
}

function isTaken({ partitions }: PartitionedTable, fromMs: number, widthMs: number): boolean {
  return partitions.some((partition) => partition.fromMs < fromMs + widthMs && partition.untilMs > fromMs);
}

async function add(service: Deps, name: PartitionedName, fromMs: number): Promise<void> {
  const partitioning = PARTITIONED[name];
  const added = await change(service, async (tx) => {
    if (await hasRows(tx, partitioning, { fromMs, untilMs: fromMs + partitioning.widthMs })) return undefined;
    await endGoingBack(tx);
    return await addPartition(tx, partitioning, fromMs);
  });
  if (added !== undefined) service.log.info({ partition: added }, 'partition added');
}

/**
 * PostgreSQL reads the default partition before it adds one. So that this blocks nothing, the default one
 * first refuses the rows of the new one, and is read to prove it while it is in use.
 */
async function addToLarge(service: Deps, name: PartitionedName, fromMs: number): Promise<void> {
  const partitioning = PARTITIONED[name];
  const limit = async (tx: Sql, of: number | null) => {
    await limitDefault(tx, partitioning, of);
    return true;
  };
  if (!(await change(service, (tx) => limit(tx, fromMs)))) return;
  const prove = async () =>
    await change(service, async (tx) => {
      if (!(await proveLimit(tx, partitioning))) return undefined;
      await endGoingBack(tx);
      const partition = await addPartition(tx, partitioning, fromMs);
      await limit(tx, null);
      return partition;
    });
  const added = await runWithin(new Deadline(PROOF_MS, true), prove);
  if (added !== undefined) service.log.info({ partition: added }, 'partition added');
  // Otherwise the next round lifts the limit and tries again.
}
