/**
 * Gives a server another plan. The plan and its price change with the request, and the operation changes the
 * machine. If it fails, the previous plan and the money come back (`end.ts`).
 */
import { insufficientBalance } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { MachineSize } from '../../../ports/compute.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { ResizeBody } from '../../../spec/schemas/server-actions.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { findResizePlan, setServerPlan } from '../../../store/servers/resizes.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { readPriceLimits, requireWithinLimits } from '../../billing/quotes/limits.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { spend } from '../../tokens/limits/spend.ts';
import { chargeChange } from '../billing/charge.ts';
import { type PricedChange, paidSinceChange, priceColumns, priceResize } from '../billing/price.ts';
import { type OperationPlan, requestOperation } from '../operations/request.ts';
import type { ResizePayload } from '../operations/step-inputs.ts';
import { recordServerEvent } from '../transition.ts';
import { findWantedPlan, growthOf, requireResizable, wantedDiskGb } from './checks.ts';
import { reserveRoom } from './place.ts';

/**
 * Refuses as `requireResizable` does, with `price_changed` above a limit in the body, with `out_of_stock`,
 * and with `insufficient_balance`.
 */
export async function resizeServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: ResizeBody,
): Promise<Server> {
  const request = { actor, shownId, action: 'resize' } as const;
  return await requestOperation(service, request, async (tx, server, now) => {
    const plan = await requireResizable(tx, service, server, {
      body,
      plan: await findWantedPlan(tx, server, body),
    });
    const price = await priceResize(tx, server, plan, now);
    const limits = readPriceLimits(service, actor, { operation: 'server.resize', resource: shownId }, body);
    requireWithinLimits(limits, price.dueCents > 0n ? price.dueCents : 0n);
    const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
    await reserveRoom(tx, service, server, { growth: growthOf(server, body, plan), now });
    if (price.dueCents > 0n) await spend(tx, actor, price.dueCents, now);
    if (price.dueCents > 0n && balanceCents < price.dueCents)
      insufficientBalance(balanceCents, price.dueCents);
    const size = { cpu: plan.cpu, ramMb: plan.ram_mb, diskGb: wantedDiskGb(server, body, plan) };
    return await changePlan(tx, server, { planId: plan.id, size, price }, now);
  });
}

async function changePlan(
  tx: Sql,
  server: ServerRow,
  wanted: { readonly planId: string; readonly size: MachineSize; readonly price: PricedChange },
  now: Date,
): Promise<OperationPlan> {
  const { planId, size, price } = wanted;
  const { dueCents, description, paid } = price;
  const id = newId(now);
  const previous = await describePrevious(tx, server);
  await setServerPlan(tx, {
    id: server.id,
    plan_id: planId,
    ...priceColumns(price),
    paid_from: paid?.from ?? null,
    paid_cents: paid?.cents ?? null,
    priced_at: planId === server.plan_id ? server.priced_at : now,
    updated_at: now,
  });
  await recordServerEvent(tx, server, 'server.resized', now);
  if (dueCents > 0n)
    await chargeChange(tx, server, { kind: 'resize', id, cents: dueCents, description }, now);
  const wasRunning = server.status === 'running';
  const payload = { id, wasRunning, size, description, dueCents: String(dueCents), previous };
  return { step: wasRunning ? 'shut_down' : 'resize', payload };
}

async function describePrevious(tx: Sql, server: ServerRow): Promise<ResizePayload['previous']> {
  const plan = await findResizePlan(tx, server.region_id, server.plan_id);
  if (plan === undefined) throw new Error('a server without a plan');
  const paid = paidSinceChange(server);
  return {
    planId: server.plan_id,
    cpu: plan.cpu,
    ramMb: server.ram_mb,
    diskGb: server.disk_gb,
    monthCents: String(server.price_cents_month),
    cycleCents: String(server.price_cents_cycle),
    backupCents: String(server.backup_cents_cycle),
    backupPercent: server.backup_percent,
    pricedAt: server.priced_at?.toISOString() ?? null,
    paid: paid && { from: paid.from.toISOString(), cents: String(paid.cents) },
    paidUntil: server.paid_until.toISOString(),
  };
}
