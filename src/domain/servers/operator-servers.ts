/** How the operator finds servers: by id, by address, or by what they have in common. */
import { isIP } from 'node:net';
import { parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { listRegions } from '../../store/catalogue.ts';
import { findTakenNames } from '../../store/hosts.ts';
import {
  findOperatorServer,
  findServerIdByAddress,
  listOperatorServers,
  type OperatorServerRow,
} from '../../store/operator-servers.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/by-email.ts';
import { describeKnown } from '../inventory/names.ts';

export interface OperatorServerQuery {
  /** His e-mail address. */
  readonly customer?: string;
  readonly status?: ServerStatus;
  /** REST code. */
  readonly region?: string;
  /** The name of a host or machine. */
  readonly host?: string;
  readonly frozen?: true;
  readonly held?: true;
  readonly limit: number;
}

/** The newest `limit` of them, and whether there are more. Refuses a customer, region or host that does not exist. */
export async function listServersForOperator(
  service: Pick<Service, 'db'>,
  { customer, region, limit, ...query }: OperatorServerQuery,
): Promise<{ readonly servers: readonly OperatorServerRow[]; readonly hasMore: boolean }> {
  const { db } = service;
  if (region !== undefined) await requireKnownRegion(db, region);
  if (query.host !== undefined && (await findTakenNames(db, [query.host])).length === 0) {
    throw new OperatorError(
      'there is no such host or machine: skerryd hosts list and machines list show them',
    );
  }
  const filter = {
    ...query,
    ...(region === undefined ? {} : { regionId: region }),
    ...(customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id }),
  };
  const rows = await listOperatorServers(db, filter, limit + 1);
  return { servers: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** By its shown id, or by an address that it has now. */
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
  throw new OperatorError('no server has this address now');
}

/** Also one that is not sold in any more: its servers are there. */
async function requireKnownRegion(tx: Sql, id: string): Promise<void> {
  const ids = (await listRegions(tx)).map((region) => region.id);
  if (!ids.includes(id)) throw new OperatorError(`there is no region ${id}: ${describeKnown(ids)}`);
}

/** The stored id of a server that the operator names by `srv_…`; that it exists is for the caller to see. */
export function requireServerId(shownId: string): string {
  return parseId('server', shownId) ?? throwServerNotFound();
}

export function throwServerNotFound(): never {
  throw new OperatorError('there is no such server: skerryd servers list shows their ids');
}
