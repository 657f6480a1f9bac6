/** Finds servers for the operator: by id, by address, or by filter. */
import { isIP } from 'node:net';
import { parseId } from '../../../kernel/ids.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { parseLabelSelector } from '../../../spec/label-filters.ts';
import type { ServerStatus } from '../../../spec/states.ts';
import { listRegions } from '../../../store/catalogue/catalogue.ts';
import { findHostPlace } from '../../../store/inventory/hosts.ts';
import { findMachine } from '../../../store/inventory/machines.ts';
import {
  findOperatorServer,
  findServerIdByAddress,
  listOperatorServers,
  type OperatorServerFilter,
  type OperatorServerRow,
} from '../../../store/servers/operator.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../../customers/operator.ts';
import { describeKnown } from '../../inventory/names.ts';

export interface OperatorServerQuery {
  /** Anything that names servers: see `searchFilter`. */
  readonly search?: string;
  /** The customer's email address. */
  readonly customer?: string;
  readonly status?: ServerStatus;
  /** REST code. */
  readonly region?: string;
  readonly plan?: string;
  /** Labels as in the API: `env=ci,team=web`. */
  readonly label?: string;
  /** The name of a host or machine. */
  readonly host?: string;
  readonly frozen?: true;
  readonly held?: true;
  /** `srv_…`: only older servers. */
  readonly before?: string;
  readonly limit: number;
}

/** Returns the newest `limit` servers and whether more exist. Refuses an unknown filter value. */
export async function listServersForOperator(
  service: Pick<Service, 'db'>,
  { search = '', customer, region, plan, label, host, before, limit, ...query }: OperatorServerQuery,
): Promise<{ readonly servers: readonly OperatorServerRow[]; readonly hasMore: boolean }> {
  const { db } = service;
  if (region !== undefined) await requireKnownRegion(db, region);
  const found = search.trim() === '' ? {} : await searchFilter(db, search.trim());
  if (found === null) return { servers: [], hasMore: false };
  const filter = {
    ...query,
    ...(before === undefined ? {} : { beforeId: requireServerId(before) }),
    ...(region === undefined ? {} : { regionId: region }),
    ...(plan === undefined ? {} : { planId: plan }),
    ...(label === undefined ? {} : { labels: requireLabels(label) }),
    ...(host === undefined ? {} : await placeFilter(db, host)),
    ...(customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id }),
    ...found,
  };
  const rows = await listOperatorServers(db, filter, limit + 1);
  return { servers: rows.slice(0, limit), hasMore: rows.length > limit };
}

/**
 * By the shape of the text: the id of a server or customer, an address, an email address, labels, or the
 * beginning of a name and the names of a plan, region, or host. Null: nothing can match.
 */
async function searchFilter(db: Sql, text: string): Promise<OperatorServerFilter | null> {
  const serverId = isAddress(text) ? await findServerIdByAddress(db, text) : parseId('server', text);
  if (serverId !== undefined) return { id: serverId };
  if (isAddress(text)) return null;
  if (text.includes('@') || parseId('customer', text) !== undefined) {
    const customer = await findCustomer(db, text);
    return customer === undefined ? null : { customerId: customer };
  }
  if (text.includes('=')) return { labels: requireLabels(text) };
  const machine = await findMachine(db, text);
  if (machine) return machine.server_id === null ? null : { id: machine.server_id };
  return { named: { pattern: `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`, text } };
}

async function findCustomer(db: Sql, name: string): Promise<string | undefined> {
  try {
    return (await requireCustomer(db, name)).id;
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

async function placeFilter(db: Sql, name: string): Promise<OperatorServerFilter> {
  const host = await findHostPlace(db, name);
  if (host) return { hostId: host.id };
  const machine = await findMachine(db, name);
  if (machine) return { id: machine.server_id ?? NO_SERVER };
  throw new OperatorError(
    'host or machine not found: run skerryd hosts list or skerryd machines list to see their names',
  );
}

/** A machine that is not sold has none. */
const NO_SERVER = '00000000-0000-0000-0000-000000000000';

function requireLabels(text: string): string {
  const labels = parseLabelSelector(text);
  if (labels === undefined) throw new OperatorError('enter labels as key=value, separated by commas');
  return JSON.stringify(labels);
}

function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** Finds a server by its public id, or by a current address. */
export async function findServerForOperator(
  service: Pick<Service, 'db'>,
  idOrAddress: string,
): Promise<OperatorServerRow> {
  const { db } = service;
  const id = isAddress(idOrAddress)
    ? ((await findServerIdByAddress(db, idOrAddress)) ?? throwAddressNotFound())
    : requireServerId(idOrAddress);
  return (await findOperatorServer(db, id)) ?? throwServerNotFound();
}

function throwAddressNotFound(): never {
  throw new OperatorError('no server currently has this address');
}

/** Accepts regions that are no longer sold: their servers still exist. */
async function requireKnownRegion(tx: Sql, id: string): Promise<void> {
  const ids = (await listRegions(tx)).map((region) => region.id);
  if (!ids.includes(id)) throw new OperatorError(`region ${id} not found: ${describeKnown(ids)}`);
}

/** Parses `srv_…` to the stored id; the caller checks that the server exists. */
export function requireServerId(shownId: string): string {
  return parseId('server', shownId) ?? throwServerNotFound();
}

export function throwServerNotFound(): never {
  throw new OperatorError('server not found: run skerryd servers list to see server ids');
}
