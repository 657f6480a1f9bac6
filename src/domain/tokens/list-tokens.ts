import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import { listTokens as listRows, pageTokens as pageRows } from '../../store/customers/tokens.ts';
import type { CustomerActor, Service } from '../context.ts';
import { tokenObject } from './object.ts';

/** Returns all tokens of the customer, newest first. The quota bounds their number. */
export async function listTokens(service: Service, actor: CustomerActor): Promise<ApiToken[]> {
  return (await listRows(service.db, actor.customerId)).map(tokenObject);
}

/** Returns one page of tokens. */
export async function pageTokens(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: ApiToken[]; next: PagePosition | null }> {
  const { rows, next } = await pageRows(service.db, actor.customerId, page);
  return { items: rows.map(tokenObject), next };
}
