/**
 * Whether a request of the REST surface is let in, in the order that DECISIONS give: maintenance, authentication, rate,
 * scope, then the law. The rest (idempotency, shape, lookup, state, meaning) comes once its body is read.
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

/** What the REST surface has beside what every surface has. */
export interface V1Edge extends Edge {
  readonly buckets: Buckets;
  /** Failed authentication, per address. */
  readonly tokenFailures: AttemptLimiter;
  readonly streams: EventStreams;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who called, on the REST surface, once he is known. */
    bearer: TokenActor | null;
    /** The operator's, as they were when the request came. */
    rules: Rules | null;
  }
}

const BEARER_PATTERN = /^bearer +([\x21-\x7e]{1,200})$/i;

/** `route` is undefined for a path or method that does not exist. Sets `request.bearer` and the rate headers. */
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
      `This needs a token of scope ${route.scope}; this one has ${request.bearer.scope}.`,
    );
  }
  if (route.method !== 'GET' && identified.bearer?.frozen) fail('account_frozen');
  requirePolicyAllows(route, request, null);
  if (route.beta && request.headers['x-service-beta'] !== 'true') {
    throw new InvalidRequest(
      [{ field: 'X-Service-Beta', issue: 'required' }],
      'This endpoint is beta: it may change without notice. Say X-Service-Beta: true to use it.',
    );
  }
}

/** Refuses by a policy; `region` is the one that the body names, when it is read. */
export function requirePolicyAllows(
  route: Route,
  { rules, bearer }: FastifyRequest,
  region: string | null,
): void {
  // Without any, nobody need know where the caller is.
  if (!rules || !bearer || rules.policies.length === 0) return;
  requireAllowed(rules, { operation: route.id, country: bearer.ipCountry, region });
}

function toTokenActor(edge: V1Edge, { bearer }: BearerIdentity, request: FastifyRequest): TokenActor | null {
  if (!bearer) return null;
  // Now: a connection that has ended has none. Where it belongs is looked up when somebody asks, which few reads do.
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

/** Those who fail are counted by address; whoever has a token that is good is never kept waiting by them. */
function rejectToken(
  edge: V1Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string | undefined,
): never {
  const retryAfterS = edge.tokenFailures.consume(clientAddress(request));
  if (retryAfterS > 0)
    fail('rate_limited', { retry_after_s: retryAfterS }, 'Too many failed tokens; wait and try again.');
  reply.header('www-authenticate', 'Bearer');
  const message =
    token === undefined
      ? 'Send the API token in the header: Authorization: Bearer <token>.'
      : 'This API token is unknown, revoked or expired.';
  return fail('auth_required', {}, message);
}
