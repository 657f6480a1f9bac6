import { runIdempotent, type SaveResponse } from '../../domain/idempotency.ts';
import { readSessionCookie } from '../cookie.ts';
import type { Call } from '../endpoint.ts';

/**
 * Runs a change once per Idempotency-Key. `act` saves its response in the change's transaction. A replay is
 * marked as one and carries the first request's id.
 */
export async function respondOnce(call: Call, act: (keep: SaveResponse) => Promise<object>): Promise<object> {
  const { edge, request, reply } = call;
  const header = request.headers['idempotency-key'];
  const fields = [...call.form].filter(([name]) => name !== '_token');
  const { response, replayed, requestId } = await runIdempotent(
    edge.service,
    {
      actor: call.customer(),
      key: typeof header === 'string' ? header : undefined,
      credential: readSessionCookie(request) ?? '',
      request: {
        method: request.method,
        path: request.routeOptions.url ?? '',
        query: request.query as object,
        body: Object.fromEntries(fields),
      },
      status: 200,
    },
    (keep) => act(keep ?? skipSaving),
  );
  if (replayed) reply.headers({ 'idempotent-replayed': 'true', 'x-request-id': requestId });
  return response.body;
}

/** Without a key, no response is saved. */
async function skipSaving(): Promise<void> {
  return undefined;
}
