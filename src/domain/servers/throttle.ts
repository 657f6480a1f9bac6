/**
 * Transfer over the allowance is slow, and never charged. What a server sends is added up over the calendar month in UTC;
 * above what its plan includes it is held to a low rate until the month ends, or its plan includes more.
 */
import { formatId } from '../../kernel/ids.ts';
import { addMonths } from '../../kernel/time.ts';
import { enqueueTask } from '../../store/tasks.ts';
import { type SentTransferRow, setThrottled, sumSentTraffic } from '../../store/transfers-out.ts';
import type { Service } from '../context.ts';

const BATCH_SIZE = 100;
const TIB = 1024 ** 4;

/** Counts a batch of servers from after `after` on, and throttles or frees them. `next` is where to go on; null at the end. */
export async function throttleServers(
  service: Service,
  after: string | null,
): Promise<{ readonly next: string | null; readonly changed: number }> {
  const now = service.clock.now();
  const rows = await sumSentTraffic(service.db, { after, month: monthStart(now), now, limit: BATCH_SIZE });
  const changes = rows.filter(({ over, throttled }) => over !== throttled);
  for (const { server_id: id, over } of changes) await applyThrottle(service, id, over);
  const next = rows.length < BATCH_SIZE ? null : (rows.at(-1)?.server_id ?? null);
  return { next, changed: changes.length };
}

async function applyThrottle(service: Service, serverId: string, throttled: boolean): Promise<void> {
  const now = service.clock.now();
  const isChanged = await service.db.transaction(async (tx) => {
    if (!(await setThrottled(tx, serverId, throttled))) return false;
    await enqueueTask(tx, { kind: 'traffic', subject: serverId, now });
    return true;
  });
  if (!isChanged) return;
  const server = formatId('server', serverId);
  service.log.info({ server }, throttled ? 'over its transfer of the month: slow' : 'no longer slow');
  service.wake();
}

/** Beginning of the calendar month, UTC. */
function monthStart(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
}

/** What the customer of a server is told that is slow. */
export function describeThrottle(row: SentTransferRow, throttleMbps: number): string {
  const next = addMonths(row.month, 1, 1).toISOString().slice(0, 10);
  return (
    `It has sent ${formatTebibytes(row.bytes)} TiB this month, and its plan includes ${Number(row.allowed_tb)} TiB: ` +
    `until ${next} (UTC) it sends and receives ${throttleMbps} Mbit/s at most. Nothing is charged for it.`
  );
}

/** Two decimals, as plans have them. */
export function formatTebibytes(bytes: bigint): string {
  return (Number(bytes) / TIB).toFixed(2);
}
