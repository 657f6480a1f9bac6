/**
 * The admission of a REST request, before its body is read. The order is that of DECISIONS "Order of checks".
 * The region that a body names, idempotency, validation, lookup, and state follow in pipeline.ts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventStreams } from '../../domain/events/streams.ts';
import type { MemoryAttempts } from '../../domain/sessions/attempts.ts';
import { type BucketRule, costMs, type Draw } from '../../domain/tokens/buckets.ts';
import {
  type Bearer,
  type BearerIdentity,
  type Buckets,
  identifyBearer,
} from '../../domain/tokens/identify-bearer.ts';
import { type ActiveLimits, requireNetwork, requireOperation } from '../../domain/tokens/limits/active.ts';
import { fail, InvalidRequest } from '../../kernel/fail.ts';
import type { Geo } from '../../ports/geo.ts';
import { type Scope, scopeCovers } from '../../spec/scopes.ts';
import { addressBuckets } from '../admission/address-buckets.ts';
import {
  type Admission,
  passStages,
  requireNotFrozen,
  requirePolicies,
  requireServiceOpen,
  type Stages,
} from '../admission/admission.ts';
import { resourceFromParams } from '../admission/refusal-audit.ts';
import { clientAddress, resolveCountry } from '../client-address.ts';
import type { Edge } from '../settings.ts';
import type { Route, TokenActor } from './route.ts';

/** The dependencies of the REST surface, in addition to those of every surface. */
export interface V1Edge extends Edge {
  readonly buckets: Buckets;
  /**
   * Failed authentication, per address. In the memory of each process: no one guesses 256 random bits, so the
   * limit only saves work.
   */
  readonly tokenFailures: MemoryAttempts;
  readonly streams: EventStreams;
}

export interface RestAdmission extends Admission {
  readonly edge: V1Edge;
  /** Undefined for an unknown path or method. */
  readonly route: Route | undefined;
  /** The bearer token as sent; empty: none. */
  readonly token: string;
  caller: TokenActor | null;
  isOverRate: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the REST surface as soon as a request arrives. */
    admission: RestAdmission | null;
  }
}

/** For every path, so that an unknown one tells nothing to a stranger. */
const PATH_STAGES: Stages<RestAdmission> = {
  identify: identifyToken,
  open: requireServiceOpen,
  token: requireToken,
  rate: ({ isOverRate }) => void (isOverRate && fail('rate_limited')),
};

const ROUTE_STAGES: Stages<RestAdmission> = {
  ...PATH_STAGES,
  scope: requireScope,
  limits: requireWithinLimits,
  frozen: requireNotFrozen,
  policy: (admission) => requirePolicies(admission),
  beta: requireBetaHeader,
};

/** Sets `request.admission` and the rate limit headers. `route` is undefined for an unknown path. */
export async function admit(
  edge: V1Edge,
  route: Route | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const admission: RestAdmission = {
    edge,
    route,
    request,
    reply,
    token: /^bearer +([\x21-\x7e]{1,200})$/i.exec(request.headers.authorization ?? '')?.[1] ?? '',
    operation: route?.id ?? null,
    action: route?.audit ?? null,
    changes: route !== undefined && route.method !== 'GET' && !route.changesNothing && !route.whenFrozen,
    resource: () => resourceFromParams(request.params),
    caller: null,
    frozen: false,
    isOverRate: false,
    rules: null,
    isRefusalAudited: false,
  };
  request.admission = admission;
  await passStages(route ? ROUTE_STAGES : PATH_STAGES, admission);
}

/** `identify`: one statement finds the token's owner and draws from the rate limit bucket. */
async function identifyToken(admission: RestAdmission): Promise<void> {
  const { edge, request, reply, route, token } = admission;
  const bucket = route?.bucket ?? 'general';
  const identified = await identifyBearer(edge.service, token, { buckets: edge.buckets, bucket });
  const { draw, bearer, rulesVersion } = identified;
  if (draw) reply.headers(rateHeaders(edge.buckets.rules[bucket], draw));
  admission.caller = toTokenActor(edge, bearer, request);
  admission.frozen = bearer?.frozen ?? false;
  admission.isOverRate = draw?.allowed === false;
  admission.rulesVersion = rulesVersion;
}

function toTokenActor(
  edge: V1Edge,
  bearer: BearerIdentity['bearer'],
  request: FastifyRequest,
): TokenActor | null {
  return bearer && new TokenCaller(edge.geo, bearer, request);
}

/**
 * The country of its address is looked up on demand, because few reads need it. All callers have the same
 * getter. A getter in an object literal would give each object a shape of its own, which V8 keeps with all
 * that the getter refers to until a full garbage collection.
 */
class TokenCaller implements TokenActor {
  static readonly #country: PropertyDescriptor & ThisType<TokenCaller> = {
    // Copies of the caller have it too.
    enumerable: true,
    get() {
      return resolveCountry(this.#geo, this.#address);
    },
  };

  readonly customerId: string;
  readonly sessionId = null;
  readonly tokenId: string;
  readonly scope: Scope;
  readonly limits: ActiveLimits | undefined;
  readonly limitsVersion: number;
  readonly requestId: string;
  declare readonly ipCountry: string;
  readonly #geo: Geo;
  readonly #address: string;

  constructor(geo: Geo, bearer: Bearer, request: FastifyRequest) {
    this.customerId = bearer.customerId;
    this.tokenId = bearer.tokenId;
    this.scope = bearer.scope;
    this.limits = bearer.limits;
    this.limitsVersion = bearer.limitsVersion;
    this.requestId = request.id;
    this.#geo = geo;
    // Read now: a closed socket has none.
    this.#address = clientAddress(request);
    Object.defineProperty(this, 'ipCountry', TokenCaller.#country);
  }
}

/** `token`: counts failed authentication per address. A valid token is never delayed by it. */
function requireToken({ edge, caller, token, request, reply }: RestAdmission): void {
  if (caller) return;
  const perHour = edge.settings.tokenFailuresPerHour;
  const buckets = addressBuckets('tokens', clientAddress(request), perHour);
  const retryAfterS = edge.tokenFailures.consumeNow(buckets);
  if (retryAfterS > 0)
    fail('rate_limited', { retry_after_s: retryAfterS }, 'Too many failed tokens. Wait and try again.');
  reply.header('www-authenticate', 'Bearer');
  const message =
    token === ''
      ? 'Send your API token in the Authorization header: Bearer <token>.'
      : 'This API token is invalid, revoked, or expired.';
  fail('auth_required', {}, message);
}

function requireScope({ route, caller }: RestAdmission): void {
  if (!route || !caller || scopeCovers(caller.scope, route.scope)) return;
  const message = `This operation requires the scope ${route.scope}. Your token has ${caller.scope}.`;
  fail('forbidden_scope', {}, message);
}

/** `limits`: the network and the operation. Those of resources follow with the body (pipeline.ts). */
function requireWithinLimits({ route, caller, request }: RestAdmission): void {
  if (!route || !caller?.limits) return;
  requireNetwork(caller.limits, clientAddress(request));
  requireOperation(caller.limits, route.id);
}

function requireBetaHeader({ route, request }: RestAdmission): void {
  if (!route?.beta || request.headers['x-service-beta'] === 'true') return;
  throw new InvalidRequest(
    [{ field: 'X-Service-Beta', issue: 'required' }],
    'This endpoint is in beta and may change without notice. To use it, send X-Service-Beta: true.',
  );
}

/** The precision of a current timestamp stored as a double, in milliseconds. */
const CLOCK_ERROR_MS = 0.001;

/**
 * Builds the rate limit headers (SPEC "Limits"): `X-RateLimit-Limit`, `-Remaining`, `-Reset` (Unix seconds
 * when full); `Retry-After` when nothing is left.
 */
export function rateHeaders(rule: BucketRule, draw: Draw): Record<string, string> {
  const cost = costMs(rule);
  const missing = (draw.fullAtMs - draw.nowMs - CLOCK_ERROR_MS) / cost;
  const left = draw.allowed ? Math.max(Math.floor(rule.capacity - missing), 0) : 0;
  const headers: Record<string, string> = {
    'x-ratelimit-limit': String(Math.round(rule.refillPerS * 60)),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(Math.ceil(draw.fullAtMs / 1_000)),
  };
  if (!draw.allowed) {
    const waitMs = draw.fullAtMs + cost - rule.capacity * cost - draw.nowMs - CLOCK_ERROR_MS;
    headers['retry-after'] = String(Math.max(Math.ceil(waitMs / 1_000), 1));
  }
  return headers;
}
