/** Customers sign up, and look at what they have. */

import { PASSWORD } from '../../support/session-client.ts';
import { pickAt } from '../history.ts';
import { live, type ModelCustomer } from '../model/model.ts';
import type { Acting } from './acting.ts';
import { openSession } from './session.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

export const hookPath = ({ index }: ModelCustomer): string => `/customer-${index}`;

/** Signs up, and creates a token, an SSH key, and a webhook. */
export async function signUp(acting: Acting): Promise<void> {
  const { customer, world, name } = acting;
  if (customer.webhookId !== '') return;
  customer.email = `${name}@example.org`;
  if (!(await openSession(acting, 'signup'))) return;
  const fields = { action: 'create_token', name, scope: 'billing', current_password: PASSWORD };
  customer.token = String((await acting.form('/account-api.php', fields))?.body.token ?? '');
  const key = await acting.change('POST', '/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }, []);
  customer.keyId = String(key?.body?.id ?? '');
  const [image] = (await acting.read('/images?family=debian')).body.data;
  customer.imageId = image.id;
  const hook = { url: world.receiverUrl(hookPath(customer)), events: ['*'] };
  customer.webhookId = String((await acting.change('POST', '/webhooks', hook, []))?.body?.id ?? '');
}

/** Reads from all three surfaces. */
export async function look(acting: Acting): Promise<void> {
  const { customer, step } = acting;
  await acting.read('/billing/balance');
  const server = pickAt(live(customer.servers), step.target);
  // Its removal may have been acknowledged before its creation ended.
  if (server?.id) await acting.change('GET', `/servers/${server.id}`, undefined, [404]);
  await see(acting, '/me.php');
  await see(acting, '/servers');
}

async function see(acting: Acting, path: string): Promise<void> {
  const what = `${acting.name} GET ${path}`;
  const accept = path.endsWith('.php') ? {} : { accept: 'text/html' };
  const answer = await acting.signedIn(
    (session) => session.get(path, accept),
    ({ status, body }) => status === 303 || body.logged_in === false,
    what,
  );
  if (answer !== null && answer.status !== 200)
    acting.world.asker.unexpected.push(`${what}: ${answer.status}`);
}
