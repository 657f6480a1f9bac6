import type { ApiToken } from '../../spec/schemas/api-token.ts';
import { listTokens as listRows } from '../../store/tokens.ts';
import type { CustomerActor, Service } from '../context.ts';
import { tokenObject } from './object.ts';

/** All tokens of the customer, newest first; their number is bounded by the quota. */
export async function listTokens(service: Service, actor: CustomerActor): Promise<ApiToken[]> {
  return (await listRows(service.db, actor.customerId)).map(tokenObject);
}
