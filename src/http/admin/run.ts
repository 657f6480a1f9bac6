/** Runs an operation of staff: validates its input, and performs it under the person's role. */
import { type TObject, Type } from 'typebox';
import type { StaffActor } from '../../domain/staff/context.ts';
import { performAct } from '../../domain/staff/perform.ts';
import { InvalidRequest, invalidRequest } from '../../kernel/fail.ts';
import { STAFF_LIMITS, STAFF_OPERATIONS } from '../../spec/staff.ts';
import { type QueryReader, queryReader, type RawQuery } from '../v1/query.ts';
import { type Check, createChecker } from '../v1/validation.ts';
import type { AdminEdge, AdminRoute } from './route.ts';

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

/** Fails like `performAct`, with `invalid_request`, or like the verb. */
export async function runAdmin(
  { service }: AdminEdge,
  route: AdminRoute,
  actor: StaffActor,
  input: AdminInput,
): Promise<object | undefined> {
  const { readQuery, checkBody } = prepare(route);
  const query = readQuery(input.query);
  const sent = input.body ?? {};
  if (typeof sent !== 'object') throw new InvalidRequest([], 'The body must be a JSON object.');
  const { reason } = sent as { readonly reason?: unknown };
  const act = {
    operation: route.id,
    target: input.params.id ?? null,
    reason: typeof reason === 'string' ? reason : undefined,
    submission: input.submission,
  };
  return await performAct(service, actor, act, async () => {
    const items = route.method === 'GET' ? [] : checkBody(sent);
    if (items.length > 0) invalidRequest(items);
    return await route.run({
      service,
      actor,
      params: input.params,
      query,
      body: sent,
      reason: act.reason ?? '',
    });
  });
}
