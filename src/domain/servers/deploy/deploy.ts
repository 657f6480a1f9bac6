/** Deploys a server, for every surface. */
import { setTimeout as wait } from 'node:timers/promises';
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { crashPoint } from '../../../kernel/crash.ts';
import { fail, insufficientBalance, quotaExceeded } from '../../../kernel/fail.ts';
import { formatId, newId, newPublicNumber } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { addMonths } from '../../../kernel/time.ts';
import { MANUAL_HARDWARE_MESSAGES } from '../../../spec/error-messages.ts';
import type { CycleMonths } from '../../../spec/limits.ts';
import { sqlState, violatedConstraint } from '../../../store/db.ts';
import {
  DEPLOY_CONFLICT,
  type DeployRow,
  findDeployShortage,
  insertDeploy,
} from '../../../store/servers/deploy.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { ledgerEntryObject } from '../../ledger/object.ts';
import { HOUSE } from '../../ledger/transfer.ts';
import { cycleDescription, cyclePriceCents } from '../billing/price.ts';
import { isSoldByHand } from '../hardware.ts';
import { serverObject } from '../object.ts';

/** A validated order: plan, region, and image exist and fit each other. */
export interface DeployOrder {
  readonly name: string;
  readonly plan: {
    readonly id: string;
    readonly category: 'vps' | 'dedicated';
    readonly ram_mb: number;
    readonly disk_gb: number;
    readonly price_cents_month: bigint;
  };
  readonly regionId: string;
  readonly imageId: string;
  readonly imageType: 'official' | 'custom';
  readonly sshKeys: readonly { readonly id: string; readonly publicKey: string }[];
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly billingMonths: CycleMonths;
  readonly autoRenew: boolean;
  readonly rootPasswordSealed: string | null;
  readonly userDataSealed: string | null;
  readonly eurPerUsd: string | null;
  /** Id of the machine that was set up by hand for this order; absent when a driver installs the server. */
  readonly machineId?: string;
}

export interface Deployed {
  readonly server: ServerRow;
  readonly balanceAfterCents: bigint;
}

/** How long to retry a lost race for capacity before refusing with `maintenance`. */
const RACE_RETRY_MAX_MS = 5_000;

/** Includes deadlocks: no transaction wrapper retries a single statement. */
const RETRYABLE_SQL_STATES = new Set([DEPLOY_CONFLICT, '40P01', '40001']);

/**
 * Charges the cycle, reserves an address, a /64, and host capacity, and starts provisioning, in one commit.
 * `beforeCommit` runs in that commit. Refuses with `account_frozen`, `limit_reached`, `out_of_stock`,
 * `insufficient_balance`.
 */
export async function deploy(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
  beforeCommit?: (tx: Sql, deployed: Deployed) => Promise<void>,
): Promise<Deployed> {
  requireNotSoldByHand(service, order);
  const deadline = performance.now() + RACE_RETRY_MAX_MS;
  for (let attempt = 1; performance.now() < deadline; attempt++) {
    crashPoint('deploy.begun');
    const deployed = await attemptDeploy(service, actor, order, beforeCommit);
    if (deployed) {
      crashPoint('deploy.committed');
      service.wake();
      return deployed;
    }
    await wait(Math.random() * backoffMs(BACKOFF.deployRace, attempt));
  }
  return fail('maintenance', { retry_after_s: 1 });
}

/** Refuses as `deploy` would now, before spending work on an order that cannot succeed. */
export async function requireDeployable(
  service: Service,
  { customerId }: CustomerActor,
  { plan, regionId, billingMonths }: Pick<DeployOrder, 'plan' | 'regionId' | 'billingMonths'>,
): Promise<void> {
  requireNotSoldByHand(service, { plan });
  await throwIfNotDeployable(service.db, {
    customerId,
    planId: plan.id,
    regionId,
    category: plan.category,
    ramMb: plan.ram_mb,
    diskGb: plan.disk_gb,
    machineId: null,
    priceCentsCycle: cyclePriceCents(plan.price_cents_month, billingMonths),
    serversMax: service.settings.quotas.servers,
    now: service.clock.now(),
  });
}

/** Refuses plans that are sold by hand as out of stock, unless the operator places the order. */
function requireNotSoldByHand(
  service: Service,
  { plan, machineId }: Pick<DeployOrder, 'plan' | 'machineId'>,
): void {
  if (machineId === undefined && isSoldByHand(service, plan.category))
    fail('out_of_stock', {}, MANUAL_HARDWARE_MESSAGES.plan);
}

/** Makes one attempt; undefined if it lost a race and another attempt may succeed. */
async function attemptDeploy(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
  beforeCommit: ((tx: Sql, deployed: Deployed) => Promise<void>) | undefined,
): Promise<Deployed | undefined> {
  const { server, row } = prepareDeploy(service, actor, order);
  async function write(tx: Sql): Promise<Deployed | undefined> {
    const balanceAfterCents = await insertDeploy(tx, row);
    if (balanceAfterCents === undefined) return undefined;
    crashPoint('deploy.written');
    const deployed = { server, balanceAfterCents };
    await beforeCommit?.(tx, deployed);
    crashPoint('deploy.answer_kept');
    return deployed;
  }
  try {
    // One statement is already atomic; open a transaction only when the caller has writes to join.
    const deployed = beforeCommit ? await service.db.transaction(write) : await write(service.db);
    if (!deployed) await throwIfNotDeployable(service.db, row);
    return deployed;
  } catch (error) {
    if (RETRYABLE_SQL_STATES.has(sqlState(error)) || violatedConstraint(error) === 'servers_public_no_key')
      return undefined;
    throw error;
  }
}

/** Refuses with what is missing; returns if everything has become available in the meantime. */
async function throwIfNotDeployable(
  tx: Sql,
  row: Parameters<typeof findDeployShortage>[1] & Pick<DeployRow, 'serversMax' | 'priceCentsCycle'>,
): Promise<void> {
  const availability = await findDeployShortage(tx, row);
  if (!availability || availability.frozen) fail('account_frozen');
  if (availability.servers >= row.serversMax) quotaExceeded('servers', row.serversMax);
  if (!availability.offered || !availability.room || !availability.addresses) fail('out_of_stock');
  if (availability.balance_cents < row.priceCentsCycle)
    insufficientBalance(availability.balance_cents, row.priceCentsCycle);
}

function prepareDeploy(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
): { server: ServerRow; row: DeployRow } {
  const now = service.clock.now();
  const priceCentsCycle = cyclePriceCents(order.plan.price_cents_month, order.billingMonths);
  const server: ServerRow = {
    id: newId(now),
    public_no: newPublicNumber(),
    customer_id: actor.customerId,
    name: order.name,
    status: 'provisioning',
    suspended_reason: null,
    plan_id: order.plan.id,
    region_id: order.regionId,
    image_id: order.imageId,
    image_type: order.imageType,
    host_id: null,
    machine_id: null,
    ram_mb: order.plan.ram_mb,
    disk_gb: order.plan.disk_gb,
    ssh_keys: order.sshKeys.map((key) => key.id),
    tags: [...order.tags],
    labels: { ...order.labels },
    rdns: {},
    billing_months: order.billingMonths,
    auto_renew: order.autoRenew,
    price_cents_month: order.plan.price_cents_month,
    price_cents_cycle: priceCentsCycle,
    paid_until: addMonths(now, order.billingMonths, now.getUTCDate()),
    suspended_at: null,
    resume_to: null,
    held_at: null,
    frozen_at: null,
    throttled: false,
    first_run_at: null,
    created_at: now,
    updated_at: now,
    ipv4: null,
    ipv4_gateway: null,
    ipv6_prefix: null,
  };
  return { server, row: deployRow(server, actor, order, service.settings.quotas.servers) };
}

function deployRow(
  server: ServerRow,
  actor: CustomerActor,
  order: DeployOrder,
  serversMax: number,
): DeployRow {
  const now = server.created_at;
  const transferId = newId(now);
  const description = cycleDescription(server);
  const entry = ledgerEntryObject({
    id: transferId,
    type: 'charge',
    amountCents: -server.price_cents_cycle,
    balanceAfterCents: 0n,
    resource: { kind: 'server', id: server.id },
    description,
    createdAt: now,
  });
  return {
    serverId: server.id,
    publicNo: server.public_no,
    customerId: server.customer_id,
    name: server.name,
    planId: server.plan_id,
    regionId: server.region_id,
    imageId: server.image_id,
    category: order.plan.category,
    ramMb: server.ram_mb,
    diskGb: server.disk_gb,
    machineId: order.machineId ?? null,
    sshKeys: server.ssh_keys,
    sshPublicKeys: order.sshKeys.map((key) => key.publicKey),
    tags: server.tags,
    labels: server.labels,
    billingMonths: server.billing_months,
    autoRenew: server.auto_renew,
    priceCentsMonth: server.price_cents_month,
    priceCentsCycle: server.price_cents_cycle,
    eurPerUsd: order.eurPerUsd,
    anchorDay: now.getUTCDate(),
    paidUntil: server.paid_until,
    rootPasswordSealed: order.rootPasswordSealed,
    userDataSealed: order.userDataSealed,
    now,
    serversMax,
    revenueAccount: HOUSE.revenue,
    transferId,
    description,
    operationId: newId(now),
    audit: {
      id: newId(now),
      resource: formatId('server', server.id),
      actorToken: actor.tokenId,
      actorSession: actor.sessionId,
      requestId: actor.requestId,
      ipCountry: actor.ipCountry,
    },
    createdEvent: { id: newId(now), data: { server: serverObject(server) } },
    // One millisecond later, so that the two ids are ordered.
    chargedEvent: { id: newId(new Date(now.getTime() + 1)), data: { ledger_entry: entry } },
  };
}
