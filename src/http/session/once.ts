import { once, type Within } from '../../domain/idempotency.ts';
import { cookieOf } from '../cookie.ts';
import type { Call } from '../endpoint.ts';

/**
 * Carries a change out once per Idempotency-Key. `act` keeps its answer in the change's transaction. A replay says that it
 * is one and carries the first request's id.
 */
export async function answerOnce(call: Call, act: (keep: Within) => Promise<object>): Promise<object> {
  const { edge, request, reply } = call;
  const header = request.headers['idempotency-key'];
  const fields = [...call.form].filter(([name]) => name !== '_token');
  const { answer, replayed, requestId } = await once(
    edge.service,
    {
      actor: call.customer(),
      key: typeof header === 'string' ? header : undefined,
      credential: cookieOf(request) ?? '',
      request: {
        method: request.method,
        path: request.routeOptions.url ?? '',
        query: request.query as object,
        body: Object.fromEntries(fields),
      },
      status: 200,
    },
    (keep) => act(keep ?? noKey),
  );
  if (replayed) reply.headers({ 'idempotent-replayed': 'true', 'x-request-id': requestId });
  return answer.body;
}

/** Without a key nothing is kept. */
async function noKey(): Promise<void> {
  return undefined;
}
