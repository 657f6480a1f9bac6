/** Reads a customer's actions of the last 90 days. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Action } from '../../spec/schemas/action.ts';
import { findAction, pageActions } from '../../store/actions.ts';
import { findOwnServer } from '../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { actionObject } from './object.ts';

/** Reads an action by its public id. An unknown, malformed, or foreign one is `not_found`. */
export async function getAction(service: Service, actor: CustomerActor, shownId: string): Promise<Action> {
  const id = parseId('action', shownId) ?? notFound('action');
  return actionObject((await findAction(service.db, actor.customerId, id)) ?? notFound('action'));
}

export async function listActions(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Action>> {
  const { rows, next } = await pageActions(service.db, actor.customerId, page);
  return { items: rows.map(actionObject), next };
}

/** Lists the actions of a server. Those of a deleted one are in `listActions`. */
export async function listServerActions(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  page: PageRequest,
): Promise<Page<Action>> {
  const id = parseId('server', shownId) ?? notFound('server');
  if (!(await findOwnServer(service.db, actor.customerId, id))) notFound('server');
  return await listActions(service, actor, { ...page, filter: { ...page.filter, resource: shownId } });
}
