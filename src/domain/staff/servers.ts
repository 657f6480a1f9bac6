/** A server as staff read it: its facts, the latest work on it, and the plans that it can have. */
import { formatId } from '../../kernel/ids.ts';
import type { Action } from '../../spec/schemas/action.ts';
import { pageActions } from '../../store/actions.ts';
import { findServer, type ServerRow } from '../../store/servers/servers.ts';
import { actionObject } from '../actions/object.ts';
import type { Service } from '../context.ts';
import { systemActor } from '../record.ts';
import { findServerForOperator } from '../servers/operator/find.ts';
import { listResizeOptions, type ResizeOption } from '../servers/resize/options.ts';
import { readReportCounts } from './abuse/counts.ts';
import { toServerObject } from './objects.ts';

const ACTIONS_SHOWN = 10;

export type ServerObject = ReturnType<typeof toServerObject>;

export interface StaffServer extends ServerObject {
  /** The latest first. */
  readonly actions: readonly StaffAction[];
  readonly plans: readonly StaffPlan[];
  /** Of abuse: those that are open, and all of the last 180 days. */
  readonly abuse_reports: { readonly open: number; readonly recent: number };
}

interface StaffAction {
  readonly id: string;
  readonly command: string;
  readonly status: string;
  readonly step: string | null;
  readonly error: string | null;
  readonly request_id: string;
  readonly created_at: string;
  readonly finished_at: string | null;
}

interface StaffPlan {
  readonly id: string;
  /** Charged now; negative: it comes back to the balance. */
  readonly due_usd: number;
  readonly cycle_usd: number;
}

/** Finds it by its id, or by a current address. */
export async function readServerForStaff(service: Service, name: string): Promise<StaffServer> {
  const row = await findServerForOperator(service, name);
  const server = await findServer(service.db, row.id);
  return {
    ...toServerObject(row),
    actions: server ? await latestActions(service, server) : [],
    plans: server ? await plansOf(service, server) : [],
    abuse_reports: await readReportCounts(service, { serverId: row.id }),
  };
}

async function latestActions({ db }: Service, server: ServerRow): Promise<StaffAction[]> {
  const { rows } = await pageActions(db, server.customer_id, {
    filter: { resource: formatId('server', server.id) },
    ...{ sort: 'created_at', descending: true, after: null, size: ACTIONS_SHOWN },
  });
  return rows.map(actionObject).map(toStaffAction);
}

function toStaffAction(action: Action): StaffAction {
  const { id, command, status, steps, error, request_id, created_at, finished_at } = action;
  const step = steps.findLast(({ started_at: startedAt }) => startedAt !== null)?.name ?? null;
  return { id, command, status, step, error: error?.message ?? null, request_id, created_at, finished_at };
}

async function plansOf(service: Service, server: ServerRow): Promise<StaffPlan[]> {
  if (server.status !== 'running' && server.status !== 'stopped') return [];
  const actor = { ...systemActor(service.clock.now()), customerId: server.customer_id };
  return (await listResizeOptions(service, actor, formatId('server', server.id))).map(toStaffPlan);
}

function toStaffPlan({ plan, dueUsd, creditUsd, cycleUsd }: ResizeOption): StaffPlan {
  return { id: plan, due_usd: dueUsd - creditUsd, cycle_usd: cycleUsd };
}
