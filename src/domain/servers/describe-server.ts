/** A server with all that its own page says of it. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Capabilities } from '../../ports/compute.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { findServerDetail } from '../../store/servers.ts';
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
  /** What its hardware can do. */
  readonly capabilities: Capabilities;
  /** No driver reaches it: the operator looks after it. */
  readonly manuallyOperated: boolean;
  /** What is done to it now, as in `server.reboot`; null: nothing. */
  readonly currentOperation: string | null;
  /** Sentences about what is not as usual. */
  readonly notes: readonly string[];
  /** What the cycle after the present one costs; of one that is suspended, one that began now. */
  readonly nextCycleUsd: number;
  /** It has never run: destroying it gives all of its price back. */
  readonly neverRan: boolean;
  /** When it is destroyed, while it is suspended. */
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
  // What is suspended and not paid begins its next cycle when it is paid: now, at the earliest.
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
