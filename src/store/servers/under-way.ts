/** Operations on all customers' servers, for staff. */
import type { Sql } from '../../kernel/sql.ts';
import { conditionsFor } from '../parameters.ts';
import type { OperationKind, OperationRow, OperationStep } from './operations.ts';

export interface UnderWayRow {
  readonly server_id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly email: string;
  readonly region_id: string;
  readonly host: string | null;
  readonly kind: OperationKind;
  readonly step: OperationStep;
  readonly attempts: number;
  readonly last_fault: string | null;
  readonly action_id: string | null;
  /** Whether a worker has it now. */
  readonly leased: boolean;
  readonly due_at: Date;
  readonly created_at: Date;
}

/** Omitted fields match everything. */
export interface UnderWayFilter {
  readonly kind?: OperationKind;
  /** The name of a host or machine. */
  readonly host?: string;
  /** At least this many consecutive failures. */
  readonly attempts?: number;
  /** Began before. Moves may take long. */
  readonly since?: Date;
  readonly serverId?: string;
  readonly beforeServerId?: string;
}

const CONDITIONS = {
  kind: 'o.kind = $kind',
  host: 'coalesce(h.name, m.name) = $host',
  attempts: 'o.attempts >= $attempts',
  since: "o.created_at < $since and o.kind <> 'move'",
  serverId: 'o.server_id = $serverId',
  beforeServerId: 'o.server_id < $beforeServerId',
};

/** Those of the newest servers first. */
export async function listUnderWay(tx: Sql, filter: UnderWayFilter, limit: number): Promise<UnderWayRow[]> {
  return await tx.rows<UnderWayRow>(
    `select o.server_id, s.customer_id, s.name, c.email, s.region_id, coalesce(h.name, m.name) as host,
            o.kind, o.step, o.attempts, o.last_fault, o.action_id,
            coalesce(o.leased_until > clock_timestamp(), false) as leased, o.due_at, o.created_at
       from operations o
       join servers s on s.id = o.server_id
       join customers c on c.id = s.customer_id
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where ${conditionsFor(filter, CONDITIONS)} order by o.server_id desc limit $limit`,
    { ...filter, limit },
  );
}

/** Makes the current step due now. Returns false if the server has no operation. */
export async function makeOperationDue(tx: Sql, serverId: string, now: Date): Promise<boolean> {
  const sql = 'update operations set due_at = least(due_at, $2) where server_id = $1';
  return (await tx.run(sql, [serverId, now])) === 1;
}

/** Leases the operation of one server; undefined if it has none, or a worker has it. */
export async function claimOperationOf(
  tx: Sql,
  claim: { readonly serverId: string; readonly leaseId: string; readonly leaseS: number },
): Promise<OperationRow | undefined> {
  return await tx.row<OperationRow>(
    `update operations o
        set lease_id = $leaseId, leased_until = clock_timestamp() + make_interval(secs => $leaseS)
       from servers s
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where o.server_id = $serverId and s.id = o.server_id
        and (o.leased_until is null or o.leased_until < clock_timestamp())
     returning o.id, o.server_id, o.kind, o.step, o.attempts, o.tried_hosts, o.placed_at, o.last_fault,
               o.cause, o.action_id, o.payload_sealed, o.snapshot_id, o.due_at, o.lease_id,
               coalesce(h.name, m.name) as host, s.generation, s.never_started, o.created_at`,
    claim,
  );
}
