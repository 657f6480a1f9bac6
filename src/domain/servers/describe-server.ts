/** A server with everything that its own page shows. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Capabilities } from '../../ports/compute.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { findServerDetail } from '../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { driverCapabilities, hasDriver } from './hardware.ts';
import { serverNotes } from './notes.ts';
import { serverObject } from './object.ts';
import { priceFrom } from './price.ts';

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
  /** It has never run: destroying it refunds its full price. */
  readonly neverRan: boolean;
  /** When it will be destroyed, while it is suspended. */
  readonly destroyAt: string | null;
}

/** Refuses with `not_found`. */
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
    neverRan: row.first_run_at === null,
    destroyAt: row.destroy_at && formatRfc3339(row.destroy_at),
  };
}
