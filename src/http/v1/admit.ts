/**
 * Admits or rejects a REST request, in the order that DECISIONS give: maintenance, authentication, rate
 * limit, scope, then policies. Idempotency, validation, lookup, and state follow once the body is read.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventStreams } from '../../domain/events/streams.ts';
import { type Rules, requireAllowed, requireOpen } from '../../domain/rules/rules.ts';
import { type BearerIdentity, type Buckets, identifyBearer } from '../../domain/tokens/identify-bearer.ts';
import { fail, InvalidRequest } from '../../kernel/fail.ts';
import { scopeCovers } from '../../spec/scopes.ts';
import type { AttemptLimiter } from '../attempt-limiter.ts';
import { clientAddress, resolveCountry } from '../client-address.ts';
import type { Edge } from '../settings.ts';
import { rateHeaders } from './rate-headers.ts';
import type { Route, TokenActor } from './route.ts';

/** The dependencies of the REST surface, in addition to those of every surface. */
export interface V1Edge extends Edge {
  readonly buckets: Buckets;
  /** Failed authentication, per address. */
  readonly tokenFailures: AttemptLimiter;
  readonly streams: EventStreams;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller on the REST surface, once authenticated. */
    bearer: TokenActor | null;
    /** The operator's rules as of this request. */
    rules: Rules | null;
  }
}

const BEARER_PATTERN = /^bearer +([\x21-\x7e]{1,200})$/i;

/** Sets `request.bearer` and the rate limit headers. `route` is undefined for an unknown path or method. */
export async function admit(
  edge: V1Edge,
  route: Route | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = BEARER_PATTERN.exec(request.headers.authorization ?? '')?.[1];
  const bucket = route?.bucket ?? 'general';
  const identified = await identifyBearer(edge.service, token ?? '', { buckets: edge.buckets, bucket });
  const { draw: bucketDraw } = identified;
  if (bucketDraw) reply.headers(rateHeaders(edge.buckets.rules[bucket], bucketDraw));
  request.bearer = toTokenActor(edge, identified, request);
  const rules = await edge.rules.read(identified.rulesVersion);
  request.rules = rules;
  requireOpen(rules, route?.id ?? null, edge.service.clock.now());
  if (!request.bearer) return rejectToken(edge, request, reply, token);
  if (bucketDraw?.allowed === false) fail('rate_limited');
  if (!route) return;
  if (!scopeCovers(request.bearer.scope, route.scope)) {
    fail(
      'forbidden_scope',
      {},
      `This operation requires the scope ${route.scope}. Your token has ${request.bearer.scope}.`,
    );
  }
  if (route.method !== 'GET' && identified.bearer?.frozen) fail('account_frozen');
  requirePolicyAllows(route, request, null);
  if (route.beta && request.headers['x-service-beta'] !== 'true') {
    throw new InvalidRequest(
      [{ field: 'X-Service-Beta', issue: 'required' }],
      'This endpoint is in beta and may change without notice. To use it, send X-Service-Beta: true.',
    );
  }
}

/** Applies the operator's policies. `region` is the region that the body names, once it is read. */
export function requirePolicyAllows(
  route: Route,
  { rules, bearer }: FastifyRequest,
  region: string | null,
): void {
  // No policies: skip the GeoIP lookup.
  if (!rules || !bearer || rules.policies.length === 0) return;
  requireAllowed(rules, { operation: route.id, country: bearer.ipCountry, region });
}

function toTokenActor(edge: V1Edge, { bearer }: BearerIdentity, request: FastifyRequest): TokenActor | null {
  if (!bearer) return null;
  // Read the address now: a closed socket has none. Its country is looked up on demand, and few reads need
  // it.
  const address = clientAddress(request);
  return {
    customerId: bearer.customerId,
    sessionId: null,
    tokenId: bearer.tokenId,
    scope: bearer.scope,
    requestId: request.id,
    get ipCountry() {
      return resolveCountry(edge.geo, address);
    },
  };
}

/** Counts failed authentication per address. Requests with a valid token are never delayed by it. */
function rejectToken(
  edge: V1Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string | undefined,
): never {
  const retryAfterS = edge.tokenFailures.consume(clientAddress(request));
  if (retryAfterS > 0)
    fail('rate_limited', { retry_after_s: retryAfterS }, 'Too many failed tokens. Wait and try again.');
  reply.header('www-authenticate', 'Bearer');
  const message =
    token === undefined
      ? 'Send your API token in the Authorization header: Bearer <token>.'
      : 'This API token is invalid, revoked, or expired.';
  return fail('auth_required', {}, message);
}
