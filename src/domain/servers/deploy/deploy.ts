/** Deploys a server, for every surface. */
import { setTimeout as wait } from 'node:timers/promises';
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { fail, insufficientBalance, requireQuota } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MANUAL_HARDWARE_MESSAGES } from '../../../spec/error-messages.ts';
import { sqlState, violatedConstraint } from '../../../store/connections/errors.ts';
import { DEPLOY_CONFLICT, insertDeploy } from '../../../store/servers/deploy.ts';
import { type DeployNeeds, findDeployShortage } from '../../../store/servers/deploy-shortage.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { requireWithinLimits } from '../../billing/quotes/limits.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { requireBudget } from '../../tokens/limits/spend.ts';
import { priceOrder } from '../billing/price.ts';
import { isSoldByHand } from '../hardware.ts';
import { type DeployOrder, hasBackups, prepareDeploy, volumeNeeds } from './prepare.ts';

export interface Deployed {
  readonly server: ServerRow;
  readonly balanceAfterCents: bigint;
}

/** Joins the commit of a deploy. */
export interface DeployCommit {
  /** Runs before the commit. Then the deploy is a transaction of several statements. */
  readonly finish?: ((tx: Sql, deployed: Deployed) => Promise<void>) | undefined;
  /** Returns the response to the request of the actor, which is stored with the server. */
  readonly respond?: (server: ServerRow) => object;
}

/** How long to retry a lost race for capacity before refusing with `maintenance`. */
const RACE_RETRY_MAX_MS = 5_000;

/** Includes deadlocks: no transaction wrapper retries a single statement. */
const RETRYABLE_SQL_STATES = new Set([DEPLOY_CONFLICT, '40P01', '40001']);

/**
 * Charges the cycle, reserves an address, a /64, and host capacity, and starts provisioning, in one commit.
 * Refuses with `price_changed`, `account_frozen`, `limit_reached`,
 * `out_of_stock`, `insufficient_balance`.
 */
export async function deploy(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
  commit: DeployCommit = {},
): Promise<Deployed> {
  requireNotSoldByHand(service, order);
  const deadline = performance.now() + RACE_RETRY_MAX_MS;
  for (let attempt = 1; performance.now() < deadline; attempt++) {
    const deployed = await service.orders.runExclusive(actor.customerId, () =>
      attemptDeploy(service, actor, order, commit),
    );
    if (deployed) {
      service.wake();
      return deployed;
    }
    await wait(Math.random() * backoffMs(BACKOFF.deployRace, attempt));
  }
  return fail('maintenance', { retry_after_s: 1 });
}

/** The parts of an order that decide whether it can be deployed. Without a region, stock is not checked. */
export interface OrderNeeds
  extends Pick<DeployOrder, 'plan' | 'billingMonths' | 'priceLimits' | 'volumes' | 'backups'> {
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
  const { cycleCents } = priceOrder({ ...order, hasBackups: hasBackups(order) }, now);
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
  { finish, respond }: DeployCommit,
): Promise<Deployed | undefined> {
  const { server, row } = prepareDeploy(service, actor, order);
  // The statement charges this price, even if the catalog changes meanwhile.
  requireWithinLimits(order.priceLimits ?? [], row.price_cents_cycle);
  const save = respond && actor.saveResponse;
  // One statement is already atomic; open a transaction only for others that join it.
  const isAlone = !finish && (!save || save.row !== undefined);
  async function write(tx: Sql): Promise<Deployed | undefined> {
    const response = isAlone && respond ? save?.row?.(respond(server)) : undefined;
    const balanceAfterCents = await insertDeploy(tx, row, response);
    if (balanceAfterCents === undefined) return undefined;
    const deployed = { server, balanceAfterCents };
    await finish?.(tx, deployed);
    if (!isAlone && respond) await save?.(tx, respond(server));
    return deployed;
  }
  try {
    const deployed = isAlone ? await write(service.db) : await service.db.transaction(write);
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
  requireQuota('servers', availability.servers_max, availability.servers);
  const hasStock = availability.offered && availability.room && availability.addresses;
  if (needs.region_id !== null && !hasStock) fail('out_of_stock');
  if (availability.balance_cents < needs.price_cents_cycle)
    insufficientBalance(availability.balance_cents, needs.price_cents_cycle);
}
