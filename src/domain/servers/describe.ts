/** A server with all that its own page says of it. */
import { notFound } from '../../kernel/fail.ts';
import { readId } from '../../kernel/ids.ts';
import { centsNumber } from '../../kernel/money.ts';
import { rfc3339 } from '../../kernel/time.ts';
import type { Capabilities } from '../../ports/compute.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { findDescribedServer } from '../../store/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { ableOf, hasDriver } from './hardware.ts';
import { notesOnServer } from './notes.ts';
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
  readonly able: Capabilities;
  /** No driver reaches it: the operator looks after it. */
  readonly byHand: boolean;
  /** What is done to it now, as in `server.reboot`; null: nothing. */
  readonly underWay: string | null;
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
  const id = readId('server', shownId) ?? notFound('server');
  const row = (await findDescribedServer(service.reads, actor.customerId, id)) ?? notFound('server');
  const now = service.clock.now();
  // What is suspended and not paid begins its next cycle when it is paid: now, at the earliest.
  const from = row.status === 'suspended' && row.paid_until < now ? now : row.paid_until;
  const [notes, next] = await Promise.all([notesOnServer(service, row), priceFrom(service.reads, row, from)]);
  return {
    server: serverObject(row),
    regionName: row.region_name,
    cpu: row.cpu,
    cpuModel: row.cpu_model,
    ramMb: row.ram_mb,
    diskGb: row.disk_gb,
    able: ableOf(service.compute, row.category),
    byHand: !hasDriver(service, row),
    underWay: row.operation,
    notes,
    nextCycleUsd: centsNumber(next.cycleCents),
    neverRan: row.first_run_at === null,
    destroyAt: row.destroy_at && rfc3339(row.destroy_at),
  };
}
