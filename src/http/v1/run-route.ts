/** Runs the verb of a route: with the resources that its token can reach, and on the replica for a list. */
import { withReplicaReads } from '../../domain/health/replica.ts';
import { hideAccount, isMasked, maskOutside } from '../../domain/tokens/limits/mask.ts';
import type { V1Edge } from './admit.ts';
import { makeCursor } from './cursor.ts';
import type { Call, ListPage, Route } from './route.ts';

export async function runRoute(edge: V1Edge, route: Route, call: Call): Promise<object> {
  const result = await (isMasked(call.actor)
    ? hideAccount(async () => await runOnSource(route, await maskCall(call)))
    : runOnSource(route, call));
  if (route.list) return listEnvelope(edge, route, call, result as ListPage<unknown>);
  return (result ?? {}) as object;
}

/** A list may come from the replica. */
function runOnSource(route: Route, call: Call): Promise<unknown> {
  if (!route.list || !call.service.replica) return route.run(call);
  return withReplicaReads(call.service, call.actor).then((service) => route.run({ ...call, service }));
}

/** Hides the resources that a limited token cannot reach. */
async function maskCall(call: Call): Promise<Call> {
  const { params, query, body, page } = call;
  const { filter, ...masked } = await maskOutside(call.service, call.actor, {
    params,
    query,
    body,
    filter: page.filter,
  });
  return { ...call, ...masked, page: { ...page, filter } };
}

function listEnvelope(edge: V1Edge, route: Route, call: Call, page: ListPage<unknown>): object {
  const { filter, sort, descending } = call.page;
  const next =
    page.next &&
    makeCursor(edge.service.keys, page.next, {
      list: route.id,
      customerId: call.actor.customerId,
      path: JSON.stringify(call.params),
      filter,
      sort: descending ? `-${sort}` : sort,
    });
  return {
    object: 'list',
    data: page.items,
    has_more: next !== null,
    ...(next === null ? {} : { next_cursor: next }),
  };
}
