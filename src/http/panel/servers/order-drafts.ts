/** Drafts of orders: kept by the order form, and shown on the pages of billing and servers. */
import { listOrderDrafts, type OrderDraft } from '../../../domain/servers/deploy/drafts.ts';
import { parseSshPublicKey } from '../../../kernel/ssh-public-key.ts';
import { DRAFT_FIELD, type KeptOrder } from '../../../panel/servers/kept-orders.ts';
import { DEPLOY_PATH, ORDER_QUERY } from '../../../spec/paths.ts';
import { type Form, field } from '../../form.ts';
import type { PageContext } from '../page-types.ts';

/** Returns the fields to show again: no password, and no private key that was pasted by mistake. */
export function keptFields(form: Form): [string, string][] {
  return [...form].filter(
    ([name, value]) =>
      !/^_|password|^max_price_usd$/.test(name) &&
      !(name === 'key_text' && /PRIVATE KEY|Private-/.test(value)),
  );
}

/** Returns the fields that a draft keeps, for days: nothing but a public key as the key. */
export function draftFields(form: Form): [string, string][] {
  return keptFields(form).filter(
    ([name, value]) => name !== DRAFT_FIELD && (name !== 'key_text' || isPublicKey(value)),
  );
}

function isPublicKey(text: string): boolean {
  try {
    return parseSshPublicKey(text) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the path of the order form with this draft. */
export function orderPath(id: string): string {
  return `${DEPLOY_PATH}?${new URLSearchParams({ [ORDER_QUERY]: id })}`;
}

/** Reads the orders that the customer can continue, for any page. */
export async function readKeptOrders({
  service,
  customer,
}: Pick<PageContext, 'service' | 'customer'>): Promise<readonly KeptOrder[]> {
  return (await listOrderDrafts(service, customer())).map(describe);
}

function describe({ id, fields, expires_at: expiresAt }: OrderDraft): KeptOrder {
  const name = field(fields, 'name');
  return {
    id,
    path: orderPath(id),
    name: name === '' ? 'a server' : name,
    plan: field(fields, 'plan'),
    expiresAt,
  };
}
