/**
 * Rehearses an operation: its price, and the refusal that it would get now. It uses the checks and prices of
 * the operation itself, but locks and writes nothing.
 */
import { fail, insufficientBalance, unknownReference } from '../../../kernel/fail.ts';
import { parseId, readCode } from '../../../kernel/ids.ts';
import type { PartialOrder, QuotedOperation } from '../../../spec/schemas/quote.ts';
import type { ResizeBody, StartBody } from '../../../spec/schemas/server-actions.ts';
import { findPlan } from '../../../store/catalogue/catalogue.ts';
import { findOfferedPlan } from '../../../store/catalogue/offers.ts';
import { findGroup } from '../../../store/firewall.ts';
import { readBalance } from '../../../store/ledger/ledger.ts';
import type { ResizePlanRow } from '../../../store/servers/resizes.ts';
import { findOwnServer, type ServerRow } from '../../../store/servers/servers.ts';
import { offeredNow } from '../../catalogue/offers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { resolveOrderedGroups } from '../../firewall/applied-to.ts';
import {
  type CyclePrice,
  currentPrice,
  type PricedChange,
  type PricedCycle,
  priceColumns,
  priceDeletion,
  priceFrom,
  priceOrder,
  priceResize,
  priceStart,
} from '../../servers/billing/price.ts';
import { checkOrder } from '../../servers/deploy/create.ts';
import { requireDeployable } from '../../servers/deploy/deploy.ts';
import { readUserData } from '../../servers/deploy/inputs.ts';
import { requireDriver } from '../../servers/hardware.ts';
import { requireReadyFor } from '../../servers/lock-server.ts';
import { findWantedPlan, growthOf, requireResizable } from '../../servers/resize/checks.ts';
import { requireRoom } from '../../servers/resize/place.ts';
import { requireBudget } from '../../tokens/limits/spend.ts';
import { readPriceLimits, requireWithinLimits } from './limits.ts';

/** The parts of the price of an operation, and the renewal after it. */
export interface OperationPrice {
  /** Negative: it comes back to the balance. */
  readonly lines: readonly { readonly description: string; readonly cents: bigint }[];
  /** The part of the lines that is for backups. */
  readonly backupCents?: bigint;
  /** Null: the server ends. */
  readonly cycleEndsAt: Date | null;
  /** Null: no cycle follows. */
  readonly renewal: { readonly at: Date; readonly cents: bigint } | null;
}

export interface Rehearsal {
  /** Null: it has no price, because its plan is unknown. */
  readonly price: OperationPrice | null;
  /** The region that its request names, for policies. */
  readonly region: string | null;
  /** Refuses as the operation would. */
  readonly check: () => Promise<void>;
}

interface RehearsalCall<Params> {
  readonly service: Service;
  readonly actor: CustomerActor;
  /** `srv_…` as received; empty: the operation has none. */
  readonly resource: string;
  readonly params: Params;
}

export const REHEARSALS = {
  'server.create': rehearseOrder,
  'server.start': rehearseStart,
  'server.resize': rehearseResize,
  'server.delete': rehearseDeletion,
} satisfies Record<QuotedOperation, (call: RehearsalCall<never>) => Promise<Rehearsal>>;

async function rehearseOrder(call: RehearsalCall<PartialOrder>): Promise<Rehearsal> {
  const { service, params } = call;
  const plan = await findPlan(service.reads, readCode(params.plan) ?? '');
  const { region, billing_months: billingMonths = 1, auto_renew: renews = true } = params;
  const regionId = readCode(region ?? '') ?? null;
  const hasBackups = params.backups !== undefined && params.backups.enabled !== false;
  const cycle = plan && priceOrder({ plan, regionId, billingMonths, hasBackups }, service.clock.now());
  return {
    price: cycle ? priceOfCycle(cycle, renews ? cycle : null) : null,
    region: region ?? null,
    check: () => checkOrderNow(call),
  };
}

async function checkOrderNow({ service, actor, params }: RehearsalCall<PartialOrder>): Promise<void> {
  const userData = readUserData(params.user_data_b64);
  const { plan, facts, volumes, backups, priceLimits } = await checkOrder(service, actor, params, userData);
  const { region_id: regionId } = facts;
  if (regionId === null) await requireStockSomewhere(service, plan.id);
  const billingMonths = params.billing_months ?? 1;
  await requireDeployable(service, actor, { plan, regionId, billingMonths, volumes, backups, priceLimits });
  const { firewall_groups: groups = [] } = params;
  if (groups.length === 0) return;
  const find = (id: string) => findGroup(service.db, actor.customerId, id);
  await resolveOrderedGroups(service, plan.category, groups, find);
}

async function requireStockSomewhere(service: Service, planId: string): Promise<void> {
  const offered = await findOfferedPlan(service.db, offeredNow(service), planId);
  if (offered?.available_in.length === 0) fail('out_of_stock', {}, 'This plan is sold out in every region.');
}

async function rehearseStart(call: RehearsalCall<StartBody>): Promise<Rehearsal> {
  const { service } = call;
  const server = await findServer(call);
  const cycle = await priceStart(service.db, server, service.clock.now());
  return {
    price: cycle
      ? priceOfCycle(cycle, await nextPrice(service, { ...server, paid_until: cycle.paidUntil }, cycle))
      : priceOfNothing(server, await nextPrice(service, server)),
    region: null,
    check: () => checkStart(call, server, cycle),
  };
}

async function checkStart(
  { service, actor, resource, params }: RehearsalCall<StartBody>,
  server: ServerRow,
  cycle: PricedCycle | null,
): Promise<void> {
  await requireReadyFor(service.db, server, 'start');
  if (server.status !== 'suspended') requireDriver(service, server);
  const needCents = cycle?.cycleCents ?? 0n;
  const limits = readPriceLimits(service, actor, { operation: 'server.start', resource }, params);
  requireWithinLimits(limits, needCents);
  if (needCents === 0n) return;
  await requireBudget(service.db, actor.limits, { cents: needCents, servers: 0 }, service.clock.now());
  const haveCents = await readBalance(service.db, actor.customerId);
  if (haveCents < needCents) insufficientBalance(haveCents, needCents);
}

async function rehearseResize(call: RehearsalCall<ResizeBody>): Promise<Rehearsal> {
  const { service, params } = call;
  const server = await findServer(call);
  const plan = await findWantedPlan(service.db, server, params);
  const resized = plan && (await priceResize(service.db, server, plan, service.clock.now()));
  return {
    price: resized ? priceOfResize(server, resized) : null,
    region: null,
    check: () => checkResize(call, server, { plan, resized }),
  };
}

async function checkResize(
  { service, actor, resource, params }: RehearsalCall<ResizeBody>,
  server: ServerRow,
  wanted: { readonly plan: ResizePlanRow | undefined; readonly resized: PricedChange | undefined },
): Promise<void> {
  const { db } = service;
  await requireReadyFor(db, server, 'resize');
  const plan = await requireResizable(db, service, server, { body: params, plan: wanted.plan });
  const dueCents = wanted.resized?.dueCents ?? 0n;
  const needCents = dueCents > 0n ? dueCents : 0n;
  const limits = readPriceLimits(service, actor, { operation: 'server.resize', resource }, params);
  requireWithinLimits(limits, needCents);
  await requireRoom(db, service, server, growthOf(server, params, plan));
  if (needCents === 0n) return;
  await requireBudget(db, actor.limits, { cents: needCents, servers: 0 }, service.clock.now());
  const haveCents = await readBalance(db, actor.customerId);
  if (haveCents < needCents) insufficientBalance(haveCents, needCents);
}

/** The next cycle costs the price of the plan: earlier announcements do not change it. */
function priceOfResize(
  { paid_until: paidUntil, auto_renew: renews }: ServerRow,
  { description, dueCents, cycleCents }: PricedChange,
): OperationPrice {
  return {
    lines: dueCents === 0n ? [] : [{ description, cents: dueCents }],
    cycleEndsAt: paidUntil,
    renewal: renews ? { at: paidUntil, cents: cycleCents } : null,
  };
}

async function rehearseDeletion(call: RehearsalCall<object>): Promise<Rehearsal> {
  const server = await findServer(call);
  const refund = priceDeletion(server);
  const lines = refund ? [{ description: refund.description, cents: -refund.cents }] : [];
  return {
    price: { lines, cycleEndsAt: null, renewal: null },
    region: null,
    check: () => requireReadyFor(call.service.db, server, 'destroy'),
  };
}

async function findServer({ service, actor, resource }: RehearsalCall<unknown>): Promise<ServerRow> {
  const id = parseId('server', resource) ?? unknownReference('resource');
  return (await findOwnServer(service.reads, actor.customerId, id)) ?? unknownReference('resource');
}

/** Returns the price of the cycle after the paid one; null if none follows. */
async function nextPrice(
  service: Service,
  server: ServerRow,
  price: CyclePrice = currentPrice(server),
): Promise<CyclePrice | null> {
  if (!server.auto_renew || server.status === 'destroying') return null;
  return await priceFrom(service.db, { ...server, ...priceColumns(price) }, server.paid_until);
}

function cycleLines({ description, cycleCents, backupCents }: PricedCycle): OperationPrice['lines'] {
  if (backupCents === 0n) return [{ description, cents: cycleCents }];
  return [
    { description, cents: cycleCents - backupCents },
    { description: 'Backups', cents: backupCents },
  ];
}

function priceOfCycle(cycle: PricedCycle, next: CyclePrice | null): OperationPrice {
  return {
    lines: cycleLines(cycle),
    backupCents: cycle.backupCents,
    cycleEndsAt: cycle.paidUntil,
    renewal: next && { at: cycle.paidUntil, cents: next.cycleCents },
  };
}

function priceOfNothing({ paid_until: paidUntil }: ServerRow, next: CyclePrice | null): OperationPrice {
  return { lines: [], cycleEndsAt: paidUntil, renewal: next && { at: paidUntil, cents: next.cycleCents } };
}
