/** How the operator finds servers: by id, by address, or by what they have in common. */
import { isIP } from 'node:net';
import { readId } from '../../kernel/ids.ts';
import { Refusal } from '../../kernel/refusal.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { listRegions } from '../../store/catalogue.ts';
import {
  type DeskServerRow,
  findDeskServer,
  findServerIdByAddress,
  listDeskServers,
} from '../../store/desk-servers.ts';
import { findTakenNames } from '../../store/hosts.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/by-email.ts';
import { known } from '../inventory/names.ts';

export interface DeskQuery {
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
  { customer, region, limit, ...query }: DeskQuery,
): Promise<{ readonly servers: readonly DeskServerRow[]; readonly more: boolean }> {
  const { db } = service;
  if (region !== undefined) await requireKnownRegion(db, region);
  if (query.host !== undefined && (await findTakenNames(db, [query.host])).length === 0) {
    throw new Refusal('there is no such host or machine: skerryd hosts list and machines list show them');
  }
  const filter = {
    ...query,
    ...(region === undefined ? {} : { regionId: region }),
    ...(customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id }),
  };
  const found = await listDeskServers(db, filter, limit + 1);
  return { servers: found.slice(0, limit), more: found.length > limit };
}

/** By its shown id, or by an address that it has now. */
export async function findServerForOperator(
  service: Pick<Service, 'db'>,
  idOrAddress: string,
): Promise<DeskServerRow> {
  const { db } = service;
  const id =
    isIP(idOrAddress) === 0 || idOrAddress.includes('%')
      ? requireServerId(idOrAddress)
      : ((await findServerIdByAddress(db, idOrAddress)) ?? nobodyHas());
  return (await findDeskServer(db, id)) ?? noServer();
}

function nobodyHas(): never {
  throw new Refusal('no server has this address now');
}

/** Also one that is not sold in any more: its servers are there. */
async function requireKnownRegion(tx: Sql, id: string): Promise<void> {
  const ids = (await listRegions(tx)).map((region) => region.id);
  if (!ids.includes(id)) throw new Refusal(`there is no region ${id}: ${known(ids)}`);
}

/** The stored id of a server that the operator names by `srv_…`; that it exists is for the caller to see. */
export function requireServerId(shownId: string): string {
  return readId('server', shownId) ?? noServer();
}

export function noServer(): never {
  throw new Refusal('there is no such server: skerryd servers list shows their ids');
}
