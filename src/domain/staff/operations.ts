/** The work that is under way on servers, as staff read it. A server has one operation at a time. */
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Action } from '../../spec/schemas/action.ts';
import { findAction } from '../../store/actions.ts';
import type { UnderWayRow } from '../../store/servers/under-way.ts';
import { actionObject } from '../actions/object.ts';
import type { Service } from '../context.ts';
import {
  isStuck,
  listOperations,
  requireUnderWay,
  type UnderWayQuery,
} from '../servers/operator/operations.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

export type OperationObject = ReturnType<typeof toOperationObject>;

export interface OperationDetails extends OperationObject {
  /** Those that the customer sees. */
  readonly steps: Action['steps'];
  readonly request_id: string | null;
}

export async function listOperationObjects(
  service: Deps,
  query: UnderWayQuery,
): Promise<{ readonly operations: readonly OperationObject[]; readonly hasMore: boolean }> {
  const { operations, hasMore } = await listOperations(service, query);
  const now = service.clock.now();
  return { operations: operations.map((row) => toOperationObject(row, now)), hasMore };
}

/** By the id of its server. Fails with `not_found` if nothing is under way on it. */
export async function readOperation(service: Deps, shownId: string): Promise<OperationDetails> {
  const row = await requireUnderWay(service, shownId);
  const { action_id: id, customer_id: customerId } = row;
  const action = id === null ? undefined : await findAction(service.db, customerId, id);
  const { steps, request_id } = action ? actionObject(action) : { steps: [], request_id: null };
  return { ...toOperationObject(row, service.clock.now()), steps, request_id };
}

function toOperationObject(row: UnderWayRow, now: Date) {
  return {
    object: 'operation' as const,
    /** The id of its server. */
    id: formatId('server', row.server_id),
    server_name: row.name,
    customer: row.email,
    region: row.region_id,
    host: row.host,
    kind: row.kind,
    step: row.step,
    attempts: row.attempts,
    last_fault: row.last_fault,
    /** Whether a worker has it now. */
    running: row.leased,
    stuck: isStuck(row, now),
    next_try_at: formatRfc3339(row.due_at),
    started_at: formatRfc3339(row.created_at),
  };
}
