/**
 * The traffic of servers: the task `traffic` applies a bandwidth limit, the permission to send mail, and
 * which addresses are blackholed.
 * Servers that exceed their transfer allowance are throttled; overage is never charged. Outbound transfer is
 * summed per calendar month in UTC. Above the plan's allowance the server is limited to a low rate until the
 * month ends or the allowance grows.
 */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { addMonths, SECOND_MS } from '../../kernel/time.ts';
import {
  findOwnTransfer,
  readTraffic,
  type SentTrafficRow,
  type SentTransferRow,
  setThrottled,
  sumSentTraffic,
} from '../../store/servers/traffic.ts';
import { enqueueTask, type TaskResult } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { blackholedFamilies } from './floods/blackhole.ts';
import { hasDriver } from './hardware.ts';
import { withDriverTimeout } from './operations/driver-call.ts';

/** How often to check whether a machine that is being installed has run. */
const INSTALL_POLL_MS = SECOND_MS;
/** Servers whose transfer is summed at once. */
const BATCH_SIZE = 100;
const MEGABIT = 1_000_000;
const TIB = 1024 ** 4;

/**
 * Done once the driver has it, which persists it. A new machine has no limit and no mail, so only changes are
 * sent. Driver errors propagate, and the task retries.
 */
export async function applyTraffic(service: Service, serverId: string): Promise<TaskResult> {
  const server = await readTraffic(service.db, serverId);
  if (!server || server.status === 'destroying' || !hasDriver(service, server)) return 'done';
  if (server.first_run_at === null) return { againMs: INSTALL_POLL_MS };
  const bitsPerS = server.throttled ? service.settings.throttleMbps * MEGABIT : null;
  const blackholed = blackholedFamilies(server);
  const applied = service.compute.traffic(serverId, { bitsPerS, mail: server.mail_allowed, blackholed });
  await withDriverTimeout(applied);
  return 'done';
}

/** Throttles and unthrottles all servers. Yields the changes of each batch, and 1 more if another follows. */
export async function* throttleServers(service: Service): AsyncGenerator<number> {
  for (let after: string | null = null; ; ) {
    const now = service.clock.now();
    const page = { after, month: monthStart(now), now, limit: BATCH_SIZE };
    const rows: readonly SentTrafficRow[] = await sumSentTraffic(service.db, page);
    const changes = rows.filter(({ over, throttled }) => over !== throttled);
    for (const { server_id: id, over } of changes) await applyThrottle(service, id, over);
    const isLast = rows.length < BATCH_SIZE;
    yield isLast ? changes.length : changes.length + 1;
    if (isLast) return;
    after = rows.at(-1)?.server_id ?? null;
  }
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
  service.log.info(
    { server },
    throttled ? 'server is over its monthly transfer; throttled' : 'server is no longer throttled',
  );
  service.wake();
}

/** Returns the start of the calendar month, UTC. */
function monthStart(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
}

export interface ServerTransfer {
  /** Sent since the month began, in TiB with two decimals. */
  readonly usedTb: string;
  readonly includedTb: number;
}

/** Returns what a server sent this month, and what its plan includes. Refuses with `not_found`. */
export async function getTransfer(
  { reads, clock }: Service,
  { customerId }: CustomerActor,
  shownId: string,
): Promise<ServerTransfer> {
  const serverId = parseId('server', shownId) ?? notFound('server');
  const month = monthStart(clock.now());
  const row = (await findOwnTransfer(reads, { customerId, serverId, month })) ?? notFound('server');
  return { usedTb: formatTebibytes(row.bytes), includedTb: Number(row.allowed_tb) };
}

/** Explains the throttle to the customer. */
export function describeThrottle(row: SentTransferRow, throttleMbps: number): string {
  const next = addMonths(row.month, 1, 1).toISOString().slice(0, 10);
  return (
    `This server sent ${formatTebibytes(row.bytes)} TiB this month; its plan includes ` +
    `${Number(row.allowed_tb)} TiB. Until ${next} (UTC) its traffic is limited to ${throttleMbps} Mbit/s. ` +
    'You are not charged for the extra transfer.'
  );
}

/** Formats TiB with two decimals, as plans do. */
export function formatTebibytes(bytes: bigint): string {
  return (Number(bytes) / TIB).toFixed(2);
}
