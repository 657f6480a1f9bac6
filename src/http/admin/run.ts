/** Runs an operation of staff: validates its input, and performs it under the person's role. */
import { type TObject, Type } from 'typebox';
import { withReplicaReads } from '../../domain/health/replica.ts';
import { holdForApproval } from '../../domain/staff/approvals.ts';
import type { StaffActor } from '../../domain/staff/context.ts';
import { performAct } from '../../domain/staff/perform.ts';
import { findTarget as findNamed, type TargetKind } from '../../domain/staff/target.ts';
import { InvalidRequest, invalidRequest } from '../../kernel/fail.ts';
import { STAFF_OPERATIONS } from '../../spec/staff/operations.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';
import { type QueryReader, queryReader, type RawQuery } from '../v1/query.ts';
import { type Check, createChecker } from '../v1/validation.ts';
import { runWithCode } from './limit-sign-in.ts';
import { type AdminEdge, type AdminRoute, loggedDetails } from './route.ts';

export interface AdminInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: RawQuery;
  /** Undefined: none was sent. */
  readonly body: unknown;
  /** Tells a repeated request from a new one. */
  readonly submission: string | null;
}

interface Prepared {
  readonly readQuery: QueryReader;
  readonly checkBody: Check;
}

const prepared = new Map<AdminRoute, Prepared>();

/** The schema of the body, with the reason of an operation that needs one. */
export function bodySchema({ id, body }: AdminRoute): TObject {
  const reason = Type.String({
    minLength: 1,
    maxLength: STAFF_LIMITS.reasonMaxChars,
    description: 'For the staff log. The customer does not see it.',
  });
  const properties = { ...body?.properties, ...(STAFF_OPERATIONS[id].needsReason && { reason }) };
  return Type.Object(properties, { additionalProperties: false });
}

function prepare(route: AdminRoute): Prepared {
  const known = prepared.get(route);
  if (known) return known;
  const fresh = { readQuery: queryReader(route.query), checkBody: createChecker(bodySchema(route)) };
  prepared.set(route, fresh);
  return fresh;
}

const TARGETS: Readonly<Record<string, TargetKind>> = {
  customers: 'customer',
  servers: 'server',
  operations: 'server',
  stuck_work: 'work',
  topups: 'topup',
  hosts: 'host',
  coupons: 'coupon',
  coins: 'coin',
  plans: 'plan',
  regions: 'region',
  images: 'image',
  machines: 'machine',
  staff: 'staff',
  staff_tokens: 'staffToken',
  tickets: 'ticket',
  canned_answers: 'cannedAnswer',
  abuse_reports: 'abuseReport',
  abuse_templates: 'abuseTemplate',
  floods: 'flood',
  incidents: 'incident',
  announcements: 'announcement',
  mailings: 'mailing',
  'legal-orders': 'legalOrder',
  policies: 'policy',
  maintenance: 'maintenanceWindow',
  switches: 'switch',
};

/** The log names a resource by its id. The path may name it by an address. */
async function findTarget(
  service: AdminEdge['service'],
  { path }: AdminRoute,
  { id }: AdminInput['params'],
): Promise<string | null> {
  const kind = TARGETS[path.split('/')[1] ?? ''];
  return id === undefined || kind === undefined ? null : await findNamed(service, kind, id);
}

function namesTarget({ path }: AdminRoute): boolean {
  return path.includes('{id}') && TARGETS[path.split('/')[1] ?? ''] !== undefined;
}

/** An address may belong to another customer by the time of the approval. Null: there is no such resource. */
function nameForGood(params: AdminInput['params'], target: string | null): AdminInput['params'] | null {
  return target === null ? null : { ...params, id: target };
}

/** Fails like `performAct`, with `invalid_request`, or like the verb. */
export async function runAdmin(
  edge: Pick<AdminEdge, 'service' | 'hosts' | 'carryOut' | 'attempts'>,
  route: AdminRoute,
  actor: StaffActor,
  input: AdminInput,
): Promise<object | undefined> {
  const { service, hosts, carryOut } = edge;
  const { readQuery, checkBody } = prepare(route);
  const query = readQuery(input.query);
  const sent = input.body ?? {};
  if (typeof sent !== 'object') throw new InvalidRequest([], 'The body must be a JSON object.');
  const { reason, code: _, ...rest } = sent as { readonly reason?: unknown; readonly code?: unknown };
  const act = {
    operation: route.id,
    target: route.method === 'GET' ? null : await findTarget(service, route, input.params),
    details: loggedDetails(route, rest),
    reason: typeof reason === 'string' ? reason : undefined,
    submission: input.submission,
  };
  const { params } = input;
  const check = () => {
    const items = route.method === 'GET' ? [] : checkBody(sent);
    if (items.length > 0) invalidRequest(items);
  };
  const run = async () => {
    check();
    const source = route.method === 'GET' ? await withReplicaReads(service, actor) : service;
    return await route.run({ service: source, hosts, carryOut, actor, params, query, body: sent });
  };
  const hold = async (entryId: string) => {
    check();
    const call = { service, actor, params, body: sent };
    await route.checkHeld?.(call);
    const body: Readonly<Record<string, unknown>> = { ...sent };
    const amount = async () => (route.heldAmount ? await route.heldAmount(call) : body.amount_usd);
    const named = namesTarget(route) ? nameForGood(params, act.target) : params;
    return await holdForApproval(service, actor, act, { params: named, body, amount, entryId });
  };
  const perform = () => performAct<object | undefined>(service, actor, act, run, hold);
  return await ('code' in sent ? runWithCode(edge, actor.staffId, perform) : perform());
}
