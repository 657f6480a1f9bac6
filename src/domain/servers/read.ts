/** Reads a customer's own servers; another customer's server is not found. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Capabilities } from '../../ports/compute.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { explainDenial } from '../../spec/states.ts';
import { findBlackhole } from '../../store/servers/blackholes.ts';
import { pageServers } from '../../store/servers/list.ts';
import { findServerControls } from '../../store/servers/operator.ts';
import {
  findServerDetail,
  findServerIdByPublicNo,
  findShownServer,
  type ServerRow,
} from '../../store/servers/servers.ts';
import { findSentTransfer } from '../../store/servers/traffic.ts';
import type { CustomerActor, Service } from '../context.ts';
import { priceDeletion, priceFrom } from './billing/price.ts';
import { describeBlackhole } from './floods/blackhole.ts';
import { driverCapabilities, hasDriver } from './hardware.ts';
import { serverObject } from './object.ts';
import { describeThrottle } from './traffic.ts';

/** Reads a server by its public id in one statement: the most frequent request. Refuses with `not_found`. */
export async function getServer(service: Service, actor: CustomerActor, shownId: string): Promise<Server> {
  const id = parseId('server', shownId) ?? notFound('server');
  return serverObject((await findShownServer(service.reads, actor.customerId, id)) ?? notFound('server'));
}

/** Returns the public id for the number that the session surface shows; refuses with `not_found`. */
export async function serverIdByNo(
  service: Service,
  actor: Pick<CustomerActor, 'customerId'>,
  serverNo: bigint,
): Promise<string> {
  const id = await findServerIdByPublicNo(service.reads, actor.customerId, serverNo);
  return formatId('server', id ?? notFound('server'));
}

/**
 * Returns one page of the customer's own servers. It is the only list on the pipelined connections, which are
 * meant for short reads: it is the most frequent list, `npm run bench` measures it, and its page size bounds
 * the statement.
 */
export async function listServers(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Server>> {
  const { rows, next } = await pageServers(service.reads, actor.customerId, page, actor.limits?.reach);
  return { items: rows.map(serverObject), next };
}

export interface DescribedServer {
  readonly server: Server;
  readonly regionName: string;
  readonly cpu: number;
  readonly cpuModel: string;
  readonly ramMb: number;
  readonly diskGb: number;
  /** Features that its hardware supports. */
  readonly capabilities: Capabilities;
  /** No driver reaches it: the operator manages it by hand. */
  readonly manuallyOperated: boolean;
  /** The operation under way, such as `server.reboot`; null if none. */
  readonly currentOperation: string | null;
  /** Sentences about unusual conditions. */
  readonly notes: readonly string[];
  /** Price of the next cycle; for a suspended server, of a cycle that begins now. */
  readonly nextCycleUsd: number;
  /** The amount that comes back to the balance if it is deleted now. */
  readonly refundUsd: number;
  /** When it will be destroyed, while it is suspended. */
  readonly destroyAt: string | null;
}

/** Returns a server with everything that its own page shows. Refuses with `not_found`. */
export async function describeServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<DescribedServer> {
  const id = parseId('server', shownId) ?? notFound('server');
  const row = (await findServerDetail(service.reads, actor.customerId, id)) ?? notFound('server');
  const now = service.clock.now();
  // An unpaid suspended server starts its next cycle when it is paid: now at the earliest.
  const from = row.status === 'suspended' && row.paid_until < now ? now : row.paid_until;
  const [notes, next] = await Promise.all([serverNotes(service, row), priceFrom(service.reads, row, from)]);
  return {
    server: serverObject(row),
    regionName: row.region_name,
    cpu: row.cpu,
    cpuModel: row.cpu_model,
    ramMb: row.ram_mb,
    diskGb: row.disk_gb,
    capabilities: driverCapabilities(service.compute, row.category),
    manuallyOperated: !hasDriver(service, row),
    currentOperation: row.operation,
    notes,
    nextCycleUsd: centsToUsd(next.cycleCents),
    refundUsd: centsToUsd(priceDeletion(row)?.cents ?? 0n),
    destroyAt: row.destroy_at && formatRfc3339(row.destroy_at),
  };
}

/** Returns sentences about a suspension, a throttle, a blackhole, the operator's message, or a legal hold. */
async function serverNotes({ db, settings }: Service, server: ServerRow): Promise<string[]> {
  const { id, status, suspended_reason: suspendedReason, frozen_at, held_at } = server;
  const notes = status === 'suspended' ? [explainDenial({ status, suspendedReason }, 'stop')] : [];
  const transfer = server.throttled ? await findSentTransfer(db, id) : undefined;
  if (transfer) notes.push(describeThrottle(transfer, settings.throttleMbps));
  const blackhole = await findBlackhole(db, id);
  if (blackhole) notes.push(describeBlackhole(blackhole));
  if (frozen_at === null && held_at === null) return notes;
  const controls = await findServerControls(db, id);
  if (controls?.freeze_reason) notes.push(`Message from the operator: ${controls.freeze_reason}`);
  if (controls?.hold_order)
    notes.push(`This server is under a legal hold and cannot be destroyed: ${controls.hold_order}`);
  return notes;
}
