/**
 * The path of every session surface request: identify, check CSRF and permissions, run, and audit failures.
 * An endpoint is a row, and each of its operations is a few lines.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { regionIdBySessionCode } from '../domain/catalogue/offers.ts';
import type { CustomerActor } from '../domain/context.ts';
import { requireAllowed, requireOpen } from '../domain/rules/rules.ts';
import { type Identity, identify } from '../domain/sessions/identify.ts';
import type { Visit } from '../domain/sessions/open.ts';
import { Failure, fail } from '../kernel/fail.ts';
import type { Action } from '../spec/actions.ts';
import type { FailureCode } from '../spec/errors.ts';
import type { Operation as RestOperation } from '../spec/operations.ts';
import { recordFailureAudit } from './audit-failure.ts';
import { clientAddress, resolveCountry } from './client-address.ts';
import { readSessionCookie } from './cookie.ts';
import { isCrossSite, isValidCsrfToken, submittedCsrfToken } from './csrf.ts';
import { type Form, type FormBody, field } from './form.ts';
import type { Edge } from './settings.ts';

/** One admitted request. */
export interface Call {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly form: Form;
  readonly visit: Visit;
  /** Returns the signed-in customer, or fails with `auth_required`. */
  customer(): CustomerActor;
}

type LimitedAttempt = 'signups' | 'failures' | 'mailings';

export interface Operation<Answer extends object = object> {
  /** The audit log's name for it. Null: it changes nothing. */
  readonly audit: Action | null;
  /** The equivalent REST operation, whose maintenance windows and policies also apply here. */
  readonly rest?: RestOperation;
  /** The resource that the audit log names when the operation fails. */
  readonly resource?: (form: Form) => string | null;
  /**
   * The region in the form, by its REST code. Defaults to the field `region` with the session surface's
   * codes.
   */
  readonly regionOf?: (form: Form) => string | null;
  /** Counted per address: sign-ups, wrong passwords and recovery codes, or mails that strangers request. */
  readonly limitedBy?: LimitedAttempt;
  readonly run: (call: Call) => Promise<Answer>;
  /** Wraps the counting and `run`, so that a replayed second click is not counted again. */
  around?(call: Call, go: () => Promise<Answer>): Promise<Answer>;
}

export interface PostEndpoint {
  readonly path: string;
  /** Whether it requires a signed-in customer, and rejects changes by a frozen one. */
  readonly protected: boolean;
  /** One operation, or several by a form field: `action`, unless `operationField` names another. */
  readonly operations: Operation | ReadonlyMap<string, Operation>;
  readonly operationField?: string;
  /** Failures that this endpoint answers with HTTP 200, regardless of the table in `spec/errors.ts`. */
  readonly errorsWithStatus200?: readonly FailureCode[];
}

export interface GetEndpoint {
  readonly path: string;
  /** The schema of a 200 response. */
  readonly responseSchema: object;
  readonly run: (call: GetCall) => Promise<object>;
}

export interface GetCall {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly identity: Identity;
}

export function registerGet(scope: FastifyInstance, edge: Edge, endpoint: GetEndpoint): void {
  const schema: FastifySchema = { response: { 200: endpoint.responseSchema } };
  scope.get(endpoint.path, { schema }, async (request, reply) => {
    const identity = await identify(edge.service, readSessionCookie(request));
    return await endpoint.run({ edge, request, reply, identity });
  });
}

export function registerPost(scope: FastifyInstance, edge: Edge, endpoint: PostEndpoint): void {
  const config = { errorsWithStatus200: endpoint.errorsWithStatus200 ?? [] };
  scope.post<{ Body: FormBody | undefined }>(endpoint.path, { config }, async (request, reply) => {
    const identity = await identify(edge.service, readSessionCookie(request));
    return await handleForm(edge, endpoint, { request, reply, identity });
  });
}

/** Runs the operation that a form names. `body` defaults to the body of the request. */
export async function handleForm<Answer extends object>(
  edge: Edge,
  endpoint: PostEndpoint & {
    readonly operations: Operation<Answer> | ReadonlyMap<string, Operation<Answer>>;
  },
  { request, reply, identity }: Pick<GetCall, 'request' | 'reply' | 'identity'>,
  body: FormBody = (request.body as FormBody | undefined) ?? new Map<string, string>(),
): Promise<Answer> {
  const operation = selectOperation<Answer>(endpoint, body);
  const visit = buildVisit(edge, identity, request);
  try {
    const form = admitForm(edge, endpoint, { request, body, identity });
    if (!operation) fail('bad_action');
    if (endpoint.protected) await requireOperationOpen(edge, { operation, visit, form });
    requireNotFrozen(endpoint, operation, identity);
    const call = { edge, request, reply, form, visit, customer: () => requireCustomer(visit) };
    // A public endpoint identifies the account by the form's email, a protected one by the session.
    const account = (endpoint.protected ? identity.session?.customerId : undefined) ?? field(form, 'email');
    const next = () => runRateLimited(call, operation, account);
    return await (operation.around?.(call, next) ?? next());
  } catch (error) {
    const { audit: action = null } = operation ?? {};
    const resource = body instanceof Failure ? null : (operation?.resource?.(body) ?? null);
    await recordFailureAudit(edge.service, { actor: visit.actor, action, error, resource });
    throw error;
  }
}

function selectOperation<Answer extends object>(
  endpoint: {
    readonly operations: Operation<Answer> | ReadonlyMap<string, Operation<Answer>>;
    readonly operationField?: string;
  },
  body: FormBody,
): Operation<Answer> | undefined {
  const { operations, operationField = 'action' } = endpoint;
  if ('run' in operations) return operations;
  return body instanceof Failure ? undefined : operations.get(field(body, operationField));
}

/**
 * Admits the request and returns its form. At a protected endpoint, a stranger first gets `auth_required`.
 */
function admitForm(
  edge: Edge,
  endpoint: PostEndpoint,
  { request, body, identity }: { request: FastifyRequest; body: FormBody; identity: Identity },
): Form {
  if (isCrossSite(request.headers, edge.settings.baseUrl)) fail('invalid_csrf');
  const token = submittedCsrfToken(request.headers, body);
  const mustSignIn = endpoint.protected && identity.session === null;
  if (mustSignIn && token === undefined) fail('auth_required');
  if (body instanceof Failure) throw body;
  if (!isValidCsrfToken(edge.service.keys, identity.visitor, token)) fail('invalid_csrf');
  if (mustSignIn) fail('auth_required');
  return body;
}

/** Applies the REST operation's maintenance windows and policies. Signing in and out always stays open. */
async function requireOperationOpen(
  edge: Edge,
  { operation, visit, form }: { operation: Operation; visit: Visit; form: Form },
): Promise<void> {
  const rules = await edge.rules.read();
  requireOpen(rules, operation.rest ?? null, edge.service.clock.now());
  if (!operation.rest || rules.policies.length === 0) return;
  const region = operation.regionOf ? operation.regionOf(form) : await sessionRegion(edge, form);
  requireAllowed(rules, { operation: operation.rest, country: visit.actor.ipCountry, region });
}

async function sessionRegion(edge: Edge, form: Form): Promise<string | null> {
  const code = field(form, 'region');
  return code === '' ? null : await regionIdBySessionCode(edge.service, code);
}

function requireNotFrozen(endpoint: PostEndpoint, operation: Operation, identity: Identity): void {
  const changes = endpoint.protected && operation.audit !== null;
  if (changes && identity.session?.frozen) fail('account_frozen');
}

/** Failures that count as a wrong guess. */
const WRONG_GUESS_CODES: readonly (FailureCode | undefined)[] = ['bad_credentials', 'bad_code'];

/**
 * Outcomes that count, by failure code; undefined is success. A taken address counts, as a probe for
 * accounts.
 */
const COUNTS_AGAINST_LIMIT: Readonly<Record<LimitedAttempt, (code: FailureCode | undefined) => boolean>> = {
  signups: (code) => code === undefined || code === 'email_taken',
  failures: (code) => WRONG_GUESS_CODES.includes(code) || code === 'email_taken',
  mailings: (code) => code === undefined,
};

/** Runs the operation within its address's limit. Counting first keeps a burst from slipping through. */
async function runRateLimited<Answer extends object>(
  call: Call,
  operation: Operation<Answer>,
  account: string,
): Promise<Answer> {
  const { edge, request } = call;
  const { limitedBy } = operation;
  if (!limitedBy) return await operation.run(call);
  const address = clientAddress(request);
  const retryAfterS = edge[limitedBy].consume(address);
  if (retryAfterS > 0) fail('rate_limited', { retry_after_s: retryAfterS });
  let code: FailureCode | undefined = 'internal';
  try {
    const response =
      limitedBy === 'failures' ? await runWithBackoff(call, operation, account) : await operation.run(call);
    code = undefined;
    return response;
  } catch (error) {
    if (error instanceof Failure) code = error.code;
    throw error;
  } finally {
    if (!COUNTS_AGAINST_LIMIT[limitedBy](code)) edge[limitedBy].refund(address);
  }
}

/**
 * Runs an operation that checks a password. Each wrong password or code delays the account's next attempt.
 */
async function runWithBackoff<Answer extends object>(
  call: Call,
  operation: Operation<Answer>,
  account: string,
): Promise<Answer> {
  const { backoff } = call.edge;
  await backoff.wait(account);
  try {
    const response = await operation.run(call);
    backoff.recordSuccess(account);
    return response;
  } catch (error) {
    if (error instanceof Failure && WRONG_GUESS_CODES.includes(error.code)) backoff.recordFailure(account);
    throw error;
  }
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
