/**
 * Admits the forms of the session surface and the panel, and runs their operations. An endpoint is a row, and
 * each of its operations is a few lines.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { regionIdBySessionCode } from '../../domain/catalogue/offers.ts';
import type { CustomerActor } from '../../domain/context.ts';
import type { Identity } from '../../domain/sessions/identify.ts';
import type { Visit } from '../../domain/sessions/open.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import type { Action } from '../../spec/actions.ts';
import type { FailureCode } from '../../spec/errors.ts';
import type { Operation as RestOperation } from '../../spec/operations.ts';
import { clientAddress, resolveCountry } from '../client-address.ts';
import { type Form, type FormBody, field, lookupField } from '../form.ts';
import type { Edge } from '../settings.ts';
import {
  type Admission,
  passStages,
  requireNotFrozen,
  requirePolicies,
  requireServiceOpen,
  type Stages,
} from './admission.ts';
import { isForeignForm, isValidCsrfToken, submittedCsrfToken } from './csrf.ts';
import { type Guess, identifyAttempt } from './guess.ts';
import { type LimitedAttempt, runLimited } from './limit-attempts.ts';
import { auditRefusal } from './refusal-audit.ts';

/** One admitted form. */
export interface Call {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly form: Form;
  readonly visit: Visit;
  /** Returns the signed-in customer, or fails with `auth_required`. */
  customer(): CustomerActor;
}

export interface Operation<Answer extends object = object> {
  /** The audit log's name for it. Null: it changes nothing. */
  readonly audit: Action | null;
  /** A frozen customer may send it. */
  readonly whenFrozen?: true;
  /** The equivalent REST operation, whose maintenance windows and policies also apply here. */
  readonly rest?: RestOperation;
  /** The resource that the audit log names when the operation fails. */
  readonly resource?: (form: Form) => string | null;
  /**
   * The region in the form, by its REST code. Defaults to the field `region` with the session surface's
   * codes.
   */
  readonly regionOf?: (form: Form) => string | null;
  readonly limitedBy?: LimitedAttempt;
  readonly guess?: Guess;
  readonly run: (call: Call) => Promise<Answer>;
  /** Wraps the counting and `run`, so that a replayed second click is not counted again. */
  around?(call: Call, go: () => Promise<Answer>): Promise<Answer>;
}

export interface PostEndpoint<Answer extends object = object> {
  readonly path: string;
  /** Whether it requires a signed-in customer, and rejects changes by a frozen one. */
  readonly protected: boolean;
  /** One operation, or several by a form field: `action`, unless `operationField` names another. */
  readonly operations: Operation<Answer> | ReadonlyMap<string, Operation<Answer>>;
  readonly operationField?: string;
  /** Failures that this endpoint answers with HTTP 200, regardless of the table in `spec/errors.ts`. */
  readonly errorsWithStatus200?: readonly FailureCode[];
}

interface FormAdmission<Answer extends object> extends Admission {
  readonly caller: Visit['actor'];
  readonly identity: Identity;
  readonly endpoint: PostEndpoint<Answer>;
  readonly body: FormBody;
  readonly row: Operation<Answer> | undefined;
}

/** Signing in and out always stays open. The caller of `handleForm` has identified the visitor. */
const PUBLIC_STAGES: Stages<FormAdmission<object>> = {
  csrf: requireCsrfToken,
  action: ({ row }) => void (row ?? fail('bad_action')),
};

const CUSTOMER_STAGES: Stages<FormAdmission<object>> = {
  ...PUBLIC_STAGES,
  open: requireServiceOpen,
  policy: (admission) => requirePolicies(admission, () => regionOf(admission)),
  frozen: requireNotFrozen,
};

/** Admits the request's form and runs the operation that it names. */
export async function handleForm<Answer extends object>(
  edge: Edge,
  endpoint: PostEndpoint<Answer>,
  { request, reply, identity }: Pick<FormAdmission<Answer>, 'request' | 'reply' | 'identity'>,
): Promise<Answer> {
  const body = (request.body as FormBody | undefined) ?? new Map<string, string>();
  const row = selectOperation(endpoint, body);
  const visit = buildVisit(edge, identity, request);
  const admission: FormAdmission<Answer> = {
    edge,
    request,
    reply,
    identity,
    endpoint,
    body,
    row,
    operation: row?.rest ?? null,
    action: row?.audit ?? null,
    changes: row !== undefined && row.audit !== null && !row.whenFrozen,
    resource: () => (body instanceof Failure ? null : (row?.resource?.(body) ?? null)),
    caller: visit.actor,
    frozen: identity.session?.frozen ?? false,
    rules: null,
    isRefusalAudited: false,
  };
  try {
    await passStages(endpoint.protected ? CUSTOMER_STAGES : PUBLIC_STAGES, admission);
    if (!row || body instanceof Failure) throw new Error('a form was admitted without its operation');
    const attempt = await identifyAttempt({ edge, endpoint, row, identity, request, form: body });
    const customer = () => requireCustomer(visit);
    const isKnownDevice = attempt !== null && attempt.device !== null;
    const call = { edge, request, reply, form: body, visit: { ...visit, isKnownDevice }, customer };
    const verb = () => row.run(call);
    const limited = attempt ? () => runLimited(edge, attempt, verb) : verb;
    return await (row.around?.(call, limited) ?? limited());
  } catch (error) {
    await auditRefusal(admission, error);
    throw error;
  }
}

function selectOperation<Answer extends object>(
  { operations, operationField = 'action' }: PostEndpoint<Answer>,
  body: FormBody,
): Operation<Answer> | undefined {
  if ('run' in operations) return operations;
  return body instanceof Failure ? undefined : operations.get(field(body, operationField));
}

/** `csrf`: the form is ours, and readable. At a protected endpoint, a stranger first gets `auth_required`. */
function requireCsrfToken({ edge, endpoint, request, body, identity }: FormAdmission<object>): void {
  if (isForeignForm(request.headers, edge.settings.baseUrl)) fail('invalid_csrf');
  const token = submittedCsrfToken(request.headers, body);
  const mustSignIn = endpoint.protected && identity.session === null;
  if (mustSignIn && token === undefined) fail('auth_required');
  if (body instanceof Failure) throw body;
  if (!isValidCsrfToken(edge.service.keys, identity.visitor, token)) fail('invalid_csrf');
  if (mustSignIn) fail('auth_required');
}

async function regionOf({ edge, row, body }: FormAdmission<object>): Promise<string | null> {
  if (body instanceof Failure) return null;
  if (row?.regionOf) return row.regionOf(body);
  const code = lookupField(body, 'region');
  return code === '' ? null : await regionIdBySessionCode(edge.service, code);
}

/** Builds the visit that a verb may turn into a session. */
export function buildVisit(edge: Edge, identity: Identity, request: FastifyRequest): Visit {
  const actor = {
    customerId: identity.session?.customerId ?? null,
    sessionId: identity.session?.id ?? null,
    tokenId: null,
    requestId: request.id,
    ipCountry: resolveCountry(edge.geo, clientAddress(request)),
  };
  return { visitor: identity.visitor ?? '', actor };
}

function requireCustomer({ actor }: Visit): CustomerActor {
  return { ...actor, customerId: actor.customerId ?? fail('auth_required') };
}
