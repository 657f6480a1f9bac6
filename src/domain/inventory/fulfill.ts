/**
 * Sells a dedicated machine by hand: the customer asked the operator, who installs it with the addresses
 * assigned here. This is a normal deploy with its price, charge, and events, but without a driver: the
 * server runs from the same commit on.
 */
import { Failure, fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CycleMonths, LIMITS } from '../../spec/limits.ts';
import { PATTERNS } from '../../spec/patterns.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { countPool } from '../../store/inventory/addresses.ts';
import { findMachine, type MachineRow } from '../../store/inventory/machines.ts';
import { setServerInstalled } from '../../store/servers/installed.ts';
import { findServer, type ServerRow } from '../../store/servers/servers.ts';
import { findImageForOs } from '../catalogue/offers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { readOrder } from '../servers/deploy/create.ts';
import { type Deployed, deploy } from '../servers/deploy/deploy.ts';
import { generateServerName } from '../servers/deploy/deploy-session.ts';
import { serverObject } from '../servers/object.ts';
import { requireFreeMachine, requireManualMachines, throwMachineNotFound } from './manual-machines.ts';

export interface ManualSale {
  readonly machine: string;
  /** The customer's email address. */
  readonly customer: string;
  /** An image as in the session API, such as `debian-13`, or its id. */
  readonly image: string;
  readonly name?: string;
  readonly months: CycleMonths;
  /** The customer's keys, `k_…`. */
  readonly sshKeys: readonly string[];
}

/** The data that the operator needs to install the machine. */
export interface FulfilledSale {
  readonly server: ServerRow;
  readonly publicKeys: readonly string[];
  readonly balanceAfterCents: bigint;
}

/**
 * Sells the machine. Fails if it is not free, the customer cannot pay or is frozen, the region has no
 * addresses, or a name is unknown.
 */
export async function fulfillSale(service: Service, sale: ManualSale): Promise<FulfilledSale> {
  requireManualMachines(service);
  const machine = (await findMachine(service.db, sale.machine)) ?? throwMachineNotFound(sale.machine);
  requireFreeMachine(machine);
  const customer = await requireCustomer(service.db, sale.customer);
  const actor = { ...systemActor(service.clock.now()), customerId: customer.id };
  const order = { ...(await buildOrder(service, actor, machine, sale)), machineId: machine.id };
  let running: ServerRow | undefined;
  try {
    const finish = async (tx: Sql, deployed: Deployed): Promise<void> => {
      running = await markRunning(tx, deployed, { machine, customer: sale.customer });
    };
    const { balanceAfterCents } = await deploy(service, actor, order, { finish });
    if (!running) throw new Error('a sale was committed without its server');
    return { server: running, publicKeys: order.sshKeys.map((key) => key.publicKey), balanceAfterCents };
  } catch (error) {
    return await throwSaleError(service, machine, error);
  }
}

async function buildOrder(service: Service, actor: CustomerActor, machine: MachineRow, sale: ManualSale) {
  const image = await findImageForOs(service.db, sale.image);
  if (!image) throw new OperatorError('image not found: `skerryd catalogue show` lists the images');
  const name = sale.name ?? generateServerName(machine.plan_id);
  if (name.length > LIMITS.nameMaxChars || !new RegExp(PATTERNS.serverName.pattern).test(name)) {
    throw new OperatorError(
      `--name must be at most ${LIMITS.nameMaxChars} lowercase letters, digits, and dashes, and start ` +
        'with a letter',
    );
  }
  const body = {
    name,
    plan: machine.plan_id,
    region: machine.region_id,
    image: formatId('image', image.id),
    ssh_keys: [...sale.sshKeys],
    billing_months: sale.months,
  };
  try {
    return await readOrder(service, actor, body, null);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { region_id: region, plan_id: plan } = machine;
    const field = String(error.extras.field);
    if (field === 'plan' || field === 'region')
      throw new OperatorError(`plan ${plan} is not sold in ${region}: see \`skerryd catalogue show\``);
    if (!field.startsWith('ssh_keys')) throw error;
    throw new OperatorError(
      `the customer has no SSH key ${sale.sshKeys[Number(field.split('.')[1])] ?? ''}`.trim(),
    );
  }
}

/**
 * In the deploy's transaction: the operator's install counts as done and writes the same rows as a
 * driver's.
 */
async function markRunning(
  tx: Sql,
  { server }: Deployed,
  { machine, customer }: { readonly machine: MachineRow; readonly customer: string },
): Promise<ServerRow> {
  // The deploy waited for the balance lock. The customer's deletion may have begun in the meantime.
  const { id: customerId, deleting_at: deletingAt } = await requireCustomer(tx, customer);
  if (deletingAt !== null) fail('account_frozen');
  const { id, created_at: now } = server;
  const { to } = findTransition(SERVER_TRANSITIONS, server.status, 'install_begins');
  const { event } = findTransition(SERVER_TRANSITIONS, to, 'install_completes');
  await setServerInstalled(tx, { id, onNewDisk: false, now });
  const running = (await findServer(tx, id)) ?? server;
  await recordEvent(tx, { customerId, type: event, object: serverObject(running) }, now);
  const actor = systemActor(now);
  const shown = formatId('server', id);
  await recordAudit(tx, { actor, action: 'server.run', resource: shown, customerId }, now);
  await recordAudit(tx, { actor, action: 'machine.fulfil', resource: machine.name, note: shown }, now);
  return running;
}

/** Translates a customer's error for the operator. */
async function throwSaleError(service: Service, machine: MachineRow, error: unknown): Promise<never> {
  if (!(error instanceof Failure)) throw error;
  const { have, need, limit } = error.extras;
  switch (error.code) {
    case 'insufficient_balance':
      throw new OperatorError(`the balance is ${have} USD and the cycle costs ${need} USD: nothing was sold`);
    case 'account_frozen':
      throw new OperatorError('the account is frozen or being deleted: nothing was sold');
    case 'out_of_stock': {
      // A concurrent sale may have taken the machine.
      requireFreeMachine((await findMachine(service.db, machine.name)) ?? throwMachineNotFound(machine.name));
      const { region_id: region } = machine;
      const pool = await countPool(service.db, service.clock.now());
      const has = (family: 4 | 6) =>
        pool.some((row) => row.region_id === region && row.family === family && row.free > 0n);
      if (!has(4) || !has(6)) {
        const missing = has(4) ? '/64' : 'IPv4 address';
        throw new OperatorError(
          `the pool of ${region} has no free ${missing}: add a block with \`skerryd ips add\``,
        );
      }
      const { plan_id: plan } = machine;
      throw new OperatorError(
        `plan ${plan} is not sold in ${region} right now, nothing was sold: see \`skerryd catalogue show\``,
      );
    }
    case 'limit_reached':
      throw new OperatorError(
        `the account has reached the server limit of SKERRY_QUOTAS (${limit}): nothing was sold`,
      );
    default:
      throw error;
  }
}
