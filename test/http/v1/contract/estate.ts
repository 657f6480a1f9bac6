/** A customer with one resource of each kind, created through the REST surface. */
import assert from 'node:assert/strict';
import { isoFile } from '../../../support/iso.ts';
import { createApiToken, type JsonBody, V1Client, type V1Response } from '../../../support/v1-client.ts';
import type { World } from '../../../support/world.ts';
import { MULTIPART, multipart } from '../upload-world.ts';

/** Rates that never limit the requests of a test. */
export const NO_RATES = {
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '1000000',
};

export const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me@laptop';
export const RULE = {
  direction: 'in',
  proto: 'tcp',
  port: '443',
  source: '0.0.0.0/0',
  action: 'accept',
  note: null,
};
/** The parts of an upload as text: all bytes are ASCII. */
export const UPLOAD = multipart([
  { name: 'name', content: 'rescue' },
  { name: 'file', filename: 'rescue.iso', content: isoFile() },
]).toString('latin1');

/** Public ids. The names describe the resources. Everything is in the region `par`. */
export interface Estate {
  /** Uses a token of scope `billing`. */
  readonly api: V1Client;
  /** `stopped` is installed from the customer’s own image. */
  readonly server: { readonly running: string; readonly stopped: string };
  /** An address in the running server’s /64. */
  readonly address: string;
  /** `inserted` is in the drive of the stopped server. */
  readonly image: { readonly official: string; readonly own: string; readonly inserted: string };
  readonly keys: readonly [string, string];
  /** Not the token of `api`. */
  readonly token: string;
  readonly topup: { readonly credited: string; readonly open: string };
  /** `attached` is attached to the running server. */
  readonly volume: {
    readonly attached: string;
    readonly detached: string;
    readonly spare: string;
    /** For an order. */
    readonly ordered: string;
  };
  /** A ready snapshot of the running server. */
  readonly snapshot: string;
  /** `applied` is applied to the running server. It has one rule, like `idle`. */
  readonly group: { readonly applied: string; readonly idle: string };
  readonly rule: { readonly ofApplied: string; readonly ofIdle: string };
  /** Both webhooks were tested, and their secrets are being rotated. */
  readonly webhook: { readonly pinged: string; readonly other: string };
  readonly delivery: { readonly ofPinged: string; readonly ofOther: string };
  readonly action: string;
  /** Of the running server, and of all. */
  readonly alert: { readonly listed: string; readonly labeled: string };
  readonly ticket: string;
  readonly auditEvent: string;
  readonly ledgerEntry: string;
  /** Of an order of s1 for a month, the start of the stopped server, and s2 for the running one. */
  readonly quote: { readonly order: string; readonly start: string; readonly resize: string };
}

export async function makeEstate(world: World): Promise<Estate> {
  const api = V1Client.forApp(world.http, await createApiToken(await world.customer()));
  const make = (path: string, body?: object) => expectSuccess(api.post(path, body));
  const credited = await pay(world, api);
  const keys = [
    (await make('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).id,
    (await make('/ssh-keys', { name: 'desk', public_key: PUBLIC_KEY })).id,
  ] as const;
  const image = await makeImages(api);
  const order = { name: 'web-1', plan: 's1', region: 'par', ssh_keys: keys };
  const running = (await make('/servers', { ...order, image: image.official })).id;
  const stopped = (await make('/servers', { ...order, image: image.own })).id;
  await world.settle();
  await make(`/servers/${stopped}/stop`);
  await world.settle();
  await expectSuccess(api.put(`/servers/${stopped}/iso`, { image: image.inserted }));
  const volume = {
    attached: (await make('/volumes', { name: 'data', size_gb: 10, region: 'par' })).id,
    detached: (await make('/volumes', { name: 'data', size_gb: 10, region: 'par' })).id,
    spare: (await make('/volumes', { name: 'data', size_gb: 10, region: 'par' })).id,
    ordered: (await make('/volumes', { name: 'data', size_gb: 10, region: 'par' })).id,
  };
  await make(`/volumes/${volume.attached}/attach`, { server: running });
  const snapshot = (await make(`/servers/${running}/snapshots`)).id;
  const groupBody = { name: 'web', default_action: 'drop', rules: [RULE] };
  const applied = await make('/firewall/groups', { ...groupBody, applied_to: [running] });
  const idle = await make('/firewall/groups', groupBody);
  const [pinged, other] = [await makeWebhook(api), await makeWebhook(api)];
  const token = (await make('/account/tokens', { name: 'spare', scope: 'read' })).id;
  const open = (await make('/billing/topup', { coin: 'BTC', amount_usd: 30 })).id;
  await world.settle();
  const priced = { operation: 'server.create', params: { plan: 's1' } };
  const start = { operation: 'server.start', resource: stopped };
  const resize = { operation: 'server.resize', resource: running, params: { plan: 's2', restart: true } };
  const quote = {
    order: (await make('/quotes', priced)).id,
    start: (await make('/quotes', start)).id,
    resize: (await make('/quotes', resize)).id,
  };
  const condition = { metric: 'net_out_bps', value: 1_000_000_000_000 };
  const alert = {
    listed: (await make('/alerts', { ...condition, name: 'busy', servers: [running] })).id,
    labeled: (await make('/alerts', { ...condition, name: 'busy', label_selector: '' })).id,
  };
  const ticket = (await make('/tickets', { subject: 'A question', text: 'Why?' })).id;
  await assertOrdered(api, { running, stopped, snapshot, credited, attached: volume.attached });
  return {
    ...{ api, image, keys, token, volume, snapshot, quote, alert, ticket },
    webhook: { pinged: pinged.id, other: other.id },
    delivery: { ofPinged: pinged.delivery, ofOther: other.delivery },
    server: { running, stopped },
    address: (await expectSuccess(api.get(`/servers/${running}`))).ipv6.address,
    topup: { credited, open },
    group: { applied: applied.id, idle: idle.id },
    rule: { ofApplied: applied.rules[0].id, ofIdle: idle.rules[0].id },
    action: (await expectSuccess(api.get('/actions'))).data[0].id,
    auditEvent: (await expectSuccess(api.get('/audit/events'))).data[0].id,
    ledgerEntry: (await expectSuccess(api.get('/billing/ledger'))).data[0].id,
  };
}

async function pay(world: World, api: V1Client): Promise<string> {
  const topup = await expectSuccess(api.post('/billing/topup', { coin: 'LTC', amount_usd: 90 }));
  const { deposit_address: address, deposit_amount: amount } = topup;
  await world.sandbox('payments', { coin: 'LTC', address, amount });
  await world.sandbox('blocks', { coin: 'LTC', count: 30 });
  await world.settle();
  return topup.id;
}

async function makeImages(api: V1Client): Promise<Estate['image']> {
  const { data } = await expectSuccess(api.get('/images?family=debian'));
  const official = data.find((one: JsonBody) => one.version === '12').id;
  return {
    official,
    own: (await expectSuccess(api.raw('POST', '/images', UPLOAD, { headers: MULTIPART }))).id,
    inserted: (await expectSuccess(api.raw('POST', '/images', UPLOAD, { headers: MULTIPART }))).id,
  };
}

/** An unreachable URL, subscribed to an event that these tests never cause. */
async function makeWebhook(api: V1Client): Promise<{ id: string; delivery: string }> {
  const body = { url: 'https://hooks.invalid/', events: ['server.suspended'] };
  const { id } = await expectSuccess(api.post('/webhooks', body));
  await expectSuccess(api.post(`/webhooks/${id}/rotate-secret`));
  return { id, delivery: (await expectSuccess(api.post(`/webhooks/${id}/test`))).id };
}

async function expectSuccess(answer: Promise<V1Response>): Promise<JsonBody> {
  const { status, body, text } = await answer;
  assert.ok(status < 300, text);
  return body;
}

async function assertOrdered(api: V1Client, ids: Record<string, string>): Promise<void> {
  const server = async (id?: string) => (await expectSuccess(api.get(`/servers/${id}`))).status;
  assert.deepEqual([await server(ids.running), await server(ids.stopped)], ['running', 'stopped']);
  assert.equal((await expectSuccess(api.get(`/snapshots/${ids.snapshot}`))).status, 'ready');
  assert.equal((await expectSuccess(api.get(`/billing/topup/${ids.credited}`))).status, 'credited');
  assert.equal((await expectSuccess(api.get(`/volumes/${ids.attached}`))).attached_to, ids.running);
}
