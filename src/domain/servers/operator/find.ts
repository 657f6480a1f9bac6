/** Finds servers for the operator: by id, by address, or by filter. */
import { isIP } from 'node:net';
import { parseId } from '../../../kernel/ids.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { ServerStatus } from '../../../spec/states.ts';
import { listRegions } from '../../../store/catalogue/catalogue.ts';
import { findTakenNames } from '../../../store/inventory/hosts.ts';
import {
  findOperatorServer,
  findServerIdByAddress,
  listOperatorServers,
  type OperatorServerRow,
} from '../../../store/servers/operator.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../../customers/operator.ts';
import { describeKnown } from '../../inventory/names.ts';

export interface OperatorServerQuery {
  /** The customer's email address. */
  readonly customer?: string;
  readonly status?: ServerStatus;
  /** REST code. */
  readonly region?: string;
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
  { customer, region, before, limit, ...query }: OperatorServerQuery,
): Promise<{ readonly servers: readonly OperatorServerRow[]; readonly hasMore: boolean }> {
  const { db } = service;
  if (region !== undefined) await requireKnownRegion(db, region);
  if (query.host !== undefined && (await findTakenNames(db, [query.host])).length === 0) {
    throw new OperatorError(
      'host or machine not found: run skerryd hosts list or skerryd machines list to see their names',
    );
  }
  const filter = {
    ...query,
    ...(before === undefined ? {} : { beforeId: requireServerId(before) }),
    ...(region === undefined ? {} : { regionId: region }),
    ...(customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id }),
  };
  const rows = await listOperatorServers(db, filter, limit + 1);
  return { servers: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Finds a server by its public id, or by a current address. */
export async function findServerForOperator(
  service: Pick<Service, 'db'>,
  idOrAddress: string,
): Promise<OperatorServerRow> {
  const { db } = service;
  const id =
    isIP(idOrAddress) === 0 || idOrAddress.includes('%')
      ? requireServerId(idOrAddress)
      : ((await findServerIdByAddress(db, idOrAddress)) ?? throwAddressNotFound());
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
