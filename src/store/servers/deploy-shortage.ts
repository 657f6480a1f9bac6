/** The requirements of a deploy that are not met, read after its statement returned no row. */

import type { Sql } from '../../kernel/sql.ts';
import { ownLimitOr } from '../customers/own-limits.ts';
import { type DeployRow, FITS, STORAGE } from './deploy.ts';

export interface DeployShortage {
  readonly frozen: boolean;
  readonly servers: number;
  /** The customer's limit. */
  readonly servers_max: number;
  readonly balance_cents: bigint;
  readonly offered: boolean;
  readonly addresses: boolean;
  readonly room: boolean;
}

/** The parts of the record that decide whether a deploy is possible. */
export type DeployNeeds = Pick<
  DeployRow,
  | 'customer_id'
  | 'plan_id'
  | 'category'
  | 'host_tags'
  | 'ram_mb'
  | 'disk_gb'
  | 'machine_id'
  | 'volume_ids'
  | 'only_backend'
  | 'price_cents_cycle'
  | 'servers_max'
  | 'now'
> & {
  /** Null: undecided, so that nothing is in stock. */
  readonly region_id: string | null;
};

export async function findDeployShortage(tx: Sql, needs: DeployNeeds): Promise<DeployShortage | undefined> {
  return await tx.row<DeployShortage>(
    `with ${STORAGE}
     select c.frozen_at is not null as frozen, b.servers, b.balance_cents,
            ${ownLimitOr('servers', '$servers_max')} as servers_max,
            exists (select from plan_regions where plan_id = $plan_id and region_id = $region_id) as offered,
            exists (select from ipv4_addresses
                     where region_id = $region_id and server_id is null and not blocked and free_from <= $now)
              and exists (select from ipv6_prefixes
                     where region_id = $region_id and server_id is null and not blocked and free_from <= $now)
              as addresses,
            case $category::text when 'vps' then
              exists (select from hosts h where ${FITS})
            else
              exists (select from machines
                       where plan_id = $plan_id and region_id = $region_id and state = 'free'
                         and ($machine_id::uuid is null or id = $machine_id))
            end as room
       from customers c join balances b on b.customer_id = c.id where c.id = $customer_id`,
    needs,
  );
}
