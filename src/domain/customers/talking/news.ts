/**
 * Whether a customer wants news by mail. The link in such a mail works without signing in, and never expires:
 * its token is a keyed hash of the account, so nothing is stored, and all that it can do is turn news off.
 */
import { fail } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { type KeyRing, timingSafeEqualText } from '../../../kernel/secrets.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { NEWS_OFF_PATHS } from '../../../spec/paths.ts';
import { isNewsOff, lockCustomer, setNewsOff } from '../../../store/customers/customers.ts';
import type { Actor, CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';

const PURPOSE = 'news off link';
const MAC_BYTES = 16;
const TOKEN = /^([a-zA-Z0-9_-]{1,16})\.(cus_[a-z2-7]{26})\.([A-Za-z0-9_-]{22})$/;

/** Returns the paths of a customer's link: for a browser, and for one POST of a mail program. */
export function newsOffPaths(keys: KeyRing, customerId: string) {
  const id = formatId('customer', customerId);
  const token = [keys.newestId, id, macOf(keys, keys.newestId, id)].join('.');
  return {
    path: `${NEWS_OFF_PATHS.page}?token=${token}`,
    postPath: `${NEWS_OFF_PATHS.post}?token=${token}`,
  };
}

function macOf(keys: KeyRing, keyId: string, id: string): string {
  return keys.hmac(PURPOSE, id, keyId).subarray(0, MAC_BYTES).toString('base64url');
}

/** Returns the customer of a link; undefined unless we made it. */
export function readNewsToken(keys: KeyRing, token: string): string | undefined {
  const [, keyId = '', id = '', mac = ''] = TOKEN.exec(token) ?? [];
  const isOurs = keys.has(keyId) && timingSafeEqualText(mac, macOf(keys, keyId, id));
  return isOurs ? parseId('customer', id) : undefined;
}

export async function wantsNews(
  { db }: Pick<Service, 'db'>,
  { customerId }: CustomerActor,
): Promise<boolean> {
  return !(await isNewsOff(db, customerId));
}

/** Turns news on or off. Does nothing if it is already so. */
export async function setNews(
  service: Service,
  actor: CustomerActor,
  { on }: { readonly on: boolean },
): Promise<void> {
  await service.db.transaction(async (tx) => {
    if (!(await changeNews(tx, service, actor, on))) fail('auth_required');
    await actor.saveResponse?.(tx, {});
  });
}

/** Returns false if the account is deleted, or about to be. */
async function changeNews(
  tx: Sql,
  { clock }: Pick<Service, 'clock'>,
  actor: CustomerActor,
  on: boolean,
): Promise<boolean> {
  const now = clock.now();
  const customer = await lockCustomer(tx, actor.customerId);
  if (!customer || customer.deleting_at !== null) return false;
  if (await setNewsOff(tx, actor.customerId, on ? null : now)) {
    await recordAudit(tx, { actor, action: 'customer.set_news', resource: null }, now);
  }
  return true;
}

/** Turns news off for the customer of a link. A deleted account gets none anyway. Fails with `bad_link`. */
export async function turnOffNews(service: Service, actor: Actor, token: string): Promise<void> {
  const customerId = readNewsToken(service.keys, token) ?? fail('bad_link', { field: 'token' });
  const customer = { ...actor, customerId, sessionId: null, tokenId: null };
  await service.db.transaction((tx) => changeNews(tx, service, customer, false));
}
