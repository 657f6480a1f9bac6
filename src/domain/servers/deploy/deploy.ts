/** Deploys a server, for every surface. */
import { setTimeout as wait } from 'node:timers/promises';
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { fail, insufficientBalance, requireQuota } from '../../../kernel/fail.ts';
import { formatId, newId, newPublicNumber } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MANUAL_HARDWARE_MESSAGES } from '../../../spec/error-messages.ts';
import type { CycleMonths } from '../../../spec/limits.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { NO_ACTION, type ShownAction } from '../../../store/actions.ts';
import { sqlState, violatedConstraint } from '../../../store/db.ts';
import {
  DEPLOY_CONFLICT,
  type DeployNeeds,
  type DeployRow,
  findDeployShortage,
  insertDeploy,
} from '../../../store/servers/deploy.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { newAction } from '../../actions/begin.ts';
import { type PriceLimit, requireWithinLimits } from '../../billing/quotes/limits.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { ledgerEntryObject } from '../../ledger/object.ts';
import { HOUSE } from '../../ledger/transfer.ts';
import { requireBudget } from '../../tokens/limits/spend.ts';
import { priceOrder } from '../billing/price.ts';
import { isSoldByHand } from '../hardware.ts';
import { serverObject } from '../object.ts';
import type { OrderedVolumes } from './with-volumes.ts';

/** A validated order: plan, region, and image exist and fit each other. */
export interface DeployOrder {
  readonly name: string;
  readonly plan: {
    readonly id: string;
    readonly category: 'vps' | 'dedicated';
    readonly ram_mb: number;
    readonly disk_gb: number;
    readonly host_tags: readonly string[];
    readonly price_cents_month: bigint;
  };
  readonly regionId: string;
  readonly imageId: string;
  readonly imageType: 'official' | 'custom';
  /** Null: from the image. */
  readonly snapshotId?: string | null;
  readonly volumes?: OrderedVolumes;
  readonly sshKeys: readonly { readonly id: string; readonly publicKey: string }[];
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly protection?: { readonly delete?: boolean; readonly rebuild?: boolean } | undefined;
  readonly billingMonths: CycleMonths;
  readonly autoRenew: boolean;
  /** False: it is created stopped. */
  readonly start?: boolean | undefined;
  /** crypt(3) hash; null: only keys sign in. */
  readonly rootPasswordHash: string | null;
  readonly userData: Uint8Array | null;
  readonly eurPerUsd: string | null;
  /** Id of the machine that was set up by hand for this order; absent when a driver installs the server. */
  readonly machineId?: string;
  /** A higher price is refused. */
  readonly priceLimits?: readonly PriceLimit[];
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
 * `beforeCommit` runs in that commit. Refuses with `price_changed`, `account_frozen`, `limit_reached`,
 * `out_of_stock`, `insufficient_balance`.
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
    const deployed = await attemptDeploy(service, actor, order, beforeCommit);
    if (deployed) {
      service.wake();
      return deployed;
    }
    await wait(Math.random() * backoffMs(BACKOFF.deployRace, attempt));
  }
  return fail('maintenance', { retry_after_s: 1 });
}

/** The parts of an order that decide whether it can be deployed. Without a region, stock is not checked. */
export interface OrderNeeds extends Pick<DeployOrder, 'plan' | 'billingMonths' | 'priceLimits' | 'volumes'> {
  readonly regionId: string | null;
}

/** Refuses as `deploy` would now, before spending work on an order that cannot succeed. */
export async function requireDeployable(
  service: Service,
  { customerId, limits }: CustomerActor,
  order: OrderNeeds,
): Promise<void> {
  const { plan, regionId } = order;
  const now = service.clock.now();
  const { cycleCents } = priceOrder(order, now);
  requireNotSoldByHand(service, { plan });
  requireWithinLimits(order.priceLimits ?? [], cycleCents);
  await requireBudget(service.db, limits, { cents: cycleCents, servers: 1 }, now);
  await throwIfNotDeployable(service.db, {
    ...plan,
    customer_id: customerId,
    plan_id: plan.id,
    region_id: regionId,
    machine_id: null,
    ...volumeNeeds(order),
    price_cents_cycle: cycleCents,
    servers_max: service.settings.quotas.servers,
    now,
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
  // The statement charges this price, even if the catalog changes meanwhile.
  requireWithinLimits(order.priceLimits ?? [], row.price_cents_cycle);
  async function write(tx: Sql): Promise<Deployed | undefined> {
    const balanceAfterCents = await insertDeploy(tx, row);
    if (balanceAfterCents === undefined) return undefined;
    const deployed = { server, balanceAfterCents };
    await beforeCommit?.(tx, deployed);
    return deployed;
  }
  try {
    // One statement is already atomic; open a transaction only when the caller has writes to join.
    const deployed = beforeCommit ? await service.db.transaction(write) : await write(service.db);
    if (!deployed) {
      await requireBudget(service.db, actor.limits, { cents: row.price_cents_cycle, servers: 1 }, row.now);
      await throwIfNotDeployable(service.db, row);
    }
    return deployed;
  } catch (error) {
    if (RETRYABLE_SQL_STATES.has(sqlState(error)) || violatedConstraint(error) === 'servers_public_no_key')
      return undefined;
    throw error;
  }
}

/** Refuses with what is missing; returns if everything has become available in the meantime. */
async function throwIfNotDeployable(tx: Sql, needs: DeployNeeds): Promise<void> {
  const availability = await findDeployShortage(tx, needs);
  if (!availability || availability.frozen) fail('account_frozen');
  requireQuota('servers', needs.servers_max, availability.servers);
  const hasStock = availability.offered && availability.room && availability.addresses;
  if (needs.region_id !== null && !hasStock) fail('out_of_stock');
  if (availability.balance_cents < needs.price_cents_cycle)
    insufficientBalance(availability.balance_cents, needs.price_cents_cycle);
}

/** Prepares the server, as it is until it has addresses, and the record that deploys it. */
function prepareDeploy(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
): { server: ServerRow; row: DeployRow } {
  const now = service.clock.now();
  const price = priceOrder(order, now);
  const id = newId(now);
  const action = prepareAction(id, actor, order, now);
  const server: ServerRow = {
    id,
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
    // Decided by the statement.
    shared_disk: false,
    ssh_keys: order.sshKeys.map((key) => key.id),
    tags: [...order.tags],
    labels: { ...order.labels },
    protect_delete: order.protection?.delete ?? false,
    protect_rebuild: order.protection?.rebuild ?? false,
    never_started: order.start === false,
    rdns: {},
    billing_months: order.billingMonths,
    auto_renew: order.autoRenew,
    price_cents_month: price.monthCents,
    price_cents_cycle: price.cycleCents,
    paid_until: price.paidUntil,
    paid_from: null,
    paid_cents: null,
    priced_at: null,
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
    ...action.shown,
  };
  const row: DeployRow = {
    ...server,
    ssh_public_keys: order.sshKeys.map((key) => key.publicKey),
    eur_per_usd: order.eurPerUsd,
    anchor_day: price.anchorDay,
    ...sealInputs(service, server.id, order),
    category: order.plan.category,
    host_tags: order.plan.host_tags,
    machine_id: order.machineId ?? null,
    snapshot_id: order.snapshotId ?? null,
    ...volumeNeeds(order),
    now,
    servers_max: service.settings.quotas.servers,
    limit_chain: actor.limits?.chain ?? null,
    ...action.written,
    ...prepareCharge(server, price.description),
    ...prepareRecords(server, actor),
  };
  return { server, row };
}

function volumeNeeds({
  volumes,
}: Pick<DeployOrder, 'volumes'>): Pick<DeployRow, 'volume_ids' | 'only_backend'> {
  return { volume_ids: volumes?.ids ?? [], only_backend: volumes?.backend ?? null };
}

/** The action of the order. A machine that was set up by hand needs no work, and shows none. */
function prepareAction(serverId: string, actor: CustomerActor, { machineId }: DeployOrder, now: Date) {
  const ids = { customerId: actor.customerId, resourceId: serverId, serverId };
  const row = newAction({ ...ids, command: 'server.create', operationStep: 'ensure', actor, now });
  const { id, command, progress, steps, step_times } = row;
  const shown: ShownAction =
    machineId === undefined
      ? { action_id: id, action_command: command, action_progress: progress }
      : { ...NO_ACTION, action_progress: 0 };
  return { shown, written: { operation_id: id, action_steps: steps, action_step_times: step_times } };
}

function sealInputs(
  { keys }: Service,
  id: string,
  { rootPasswordHash, userData }: DeployOrder,
): Pick<DeployRow, 'root_password_sealed' | 'user_data_sealed'> {
  return {
    root_password_sealed: rootPasswordHash && keys.seal(SEALED.rootPassword, id, rootPasswordHash),
    user_data_sealed: userData && keys.seal(SEALED.userData, id, userData),
  };
}

function prepareCharge(
  server: ServerRow,
  description: string,
): Pick<DeployRow, 'revenue_account' | 'transfer_id' | 'description' | 'charged_event_id' | 'charged_event'> {
  const transferId = newId(server.created_at);
  const entry = ledgerEntryObject({
    id: transferId,
    type: 'charge',
    amountCents: -server.price_cents_cycle,
    balanceAfterCents: 0n,
    resource: { kind: 'server', id: server.id },
    description,
    createdAt: server.created_at,
  });
  return {
    revenue_account: HOUSE.revenue,
    transfer_id: transferId,
    description,
    // One millisecond later than the other event's, so that the two ids are ordered.
    charged_event_id: newId(new Date(server.created_at.getTime() + 1)),
    charged_event: { ledger_entry: entry },
  };
}

function prepareRecords(server: ServerRow, actor: CustomerActor) {
  return {
    audit_id: newId(server.created_at),
    resource: formatId('server', server.id),
    actor_token: actor.tokenId,
    actor_session: actor.sessionId,
    request_id: actor.requestId,
    ip_country: actor.ipCountry,
    created_event_id: newId(server.created_at),
    created_event: { server: serverObject(server) },
  };
}
