/** The plans that a server can have instead of its own, priced as the resize would charge them now. */
import { notFound } from '../../../kernel/fail.ts';
import { parseId } from '../../../kernel/ids.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import { listResizePlans } from '../../../store/servers/resizes.ts';
import { findOwnServer } from '../../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { priceResize } from '../billing/price.ts';
import { requireInstallFacts } from '../hardware.ts';

export interface ResizeOption {
  readonly plan: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  /** Charged now. */
  readonly dueUsd: number;
  /** Comes back to the balance. */
  readonly creditUsd: number;
  readonly cycleUsd: number;
}

/** Leaves out plans with a smaller disk, and the server's own unless its disk can grow to it. */
export async function listResizeOptions(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<ResizeOption[]> {
  const { db, clock } = service;
  const id = parseId('server', shownId) ?? notFound('server');
  const server = (await findOwnServer(db, actor.customerId, id)) ?? notFound('server');
  const { category } = await requireInstallFacts(db, server);
  if (category === 'dedicated') return [];
  const plans = await listResizePlans(db, server.region_id, category);
  const fitting = plans.filter((plan) =>
    plan.id === server.plan_id ? plan.disk_gb > server.disk_gb : plan.disk_gb >= server.disk_gb,
  );
  const now = clock.now();
  return await Promise.all(
    fitting.map(async (plan) => {
      const { dueCents, cycleCents } = await priceResize(db, server, plan, now);
      return {
        plan: plan.id,
        cpu: plan.cpu,
        ramMb: plan.ram_mb,
        diskGb: plan.disk_gb,
        dueUsd: centsToUsd(dueCents > 0n ? dueCents : 0n),
        creditUsd: centsToUsd(dueCents < 0n ? -dueCents : 0n),
        cycleUsd: centsToUsd(cycleCents),
      };
    }),
  );
}
