/** A service with a customer who has one of every resource, for tests that visit every page. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newsOffPaths } from '../../../src/domain/customers/talking/news.ts';
import { createIncident } from '../../../src/domain/health/incidents.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { LINK_PATHS } from '../../../src/spec/paths.ts';
import { isoFile } from '../../support/iso.ts';
import { PanelClient } from '../../support/panel-client.ts';
import { PASSWORD, SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { respondWith, WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startWorld, type World } from '../../support/world.ts';
import { expectSuccess, makeResources, makeServers, type Resources, type Servers } from './estate.ts';
import { makeTopups, type TopupState } from './money.ts';

export interface Estate extends Servers, Resources {
  /** Never finishes installing, like every server that is created from now on. */
  readonly installing: string;
  readonly topups: Readonly<Record<TopupState, string>>;
  /** A webhook whose deliveries all succeed. */
  readonly webhook: string;
  /** A webhook whose deliveries all fail. */
  readonly brokenWebhook: string;
  /** Of all servers. */
  readonly alert: string;
  readonly ticket: string;
  readonly token: string;
  readonly action: string;
  readonly auditEvent: string;
  readonly incident: string;
  /** Paths of emailed links. */
  readonly links: { readonly confirm: string; readonly reset: string; readonly newsOff: string };
}

export interface PanelWorld extends World {
  readonly session: SessionClient;
  /** The signed-in customer's browser, without scripts. */
  readonly panel: PanelClient;
  readonly api: V1Client;
  readonly estate: Estate;
  readonly receiver: WebhookReceiver;
}

export interface PanelWorldOptions {
  readonly email?: string;
}

/** Pays the first cycles, but not a second one of the most expensive server. */
const GIFT_CENTS = 36_000n;

export async function startPanelWorld(options: PanelWorldOptions = {}): Promise<PanelWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-panel-'));
  const receiver = await WebhookReceiver.start();
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, receiver.authority.cert);
  const termsFile = join(folder, 'terms.md');
  await writeFile(termsFile, TERMS);
  const world = await startWorld({
    SKERRY_RATE_CAPACITY: '1000000',
    SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
    SKERRY_WEBHOOK_CA_FILE: caFile,
    SKERRY_TERMS_FILE: termsFile,
    SKERRY_PRIVACY_FILE: termsFile,
    SKERRY_CONTACT: 'help@skerry.example',
    SKERRY_ABUSE_FORM: 'true',
  });
  const close = async () => {
    await world.close();
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const settled = await setUpCustomer(world, receiver, options.email);
    return { ...world, ...settled, receiver, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const TERMS = `# Terms of service

Servers are prepaid. *Not* allowed: spam, attacks, and anything that hurts others.

1. We keep no copy of your data.
2. We say so when something breaks.
`;

async function setUpCustomer(world: World, receiver: WebhookReceiver, email: string | undefined) {
  const session = world.visitor();
  if (email !== undefined) session.email = email;
  await session.signUp();
  await world.addBalance(session, GIFT_CENTS);
  const api = V1Client.forUrl(world.url, await createApiToken(session));
  const servers = await makeServers(world, api);
  // A month has passed, so the session has expired.
  await session.signIn();
  const hooks = await makeWebhooks(api, receiver);
  const things = await makeResources(world, api, servers, isoFile());
  const topups = await makeTopups(world, api, session);
  await SessionClient.forUrl(world.url).signIn(session.email);
  const token = await makeToken(session);
  const busy = { name: 'Busy', metric: 'cpu_pct', value: 1, label_selector: '' };
  const { id: alert } = expectSuccess(await api.post('/alerts', busy));
  const question = { subject: 'A question', text: 'How?' };
  const { id: ticket } = expectSuccess(await api.post('/tickets', question));
  expectSuccess(await api.post(`/webhooks/${hooks.webhook}/test`));
  await session.post('/account-api.php', { action: 'resend_confirmation' });
  await session.post('/auth-api.php', { action: 'request_reset', email: session.email });
  await world.settle();
  const links = await mailedLinks(world, session.email);
  // From now on the hypervisor reports no progress, so installations never finish.
  await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000_000 });
  const last = {
    name: 'web-2',
    plan: 's1',
    region: 'rkv',
    image: servers.image,
    ssh_keys: [...servers.keys],
  };
  const installing = expectSuccess(await api.post('/servers', last)).id as string;
  await session.post('/account-api.php', { action: 'enable_totp', current_password: PASSWORD });
  const [{ id: auditEvent }] = expectSuccess(await api.get('/audit/events?page_size=1')).data;
  const [{ id: action }] = expectSuccess(await api.get('/actions?page_size=1')).data;
  const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
  await setSwitch(world.opened.service, 'transparency', true);
  const shown = { action, alert, ticket, auditEvent, incident: await makeIncident(world) };
  const estate: Estate = { ...servers, ...things, ...hooks, topups, token, installing, ...shown, links };
  return { session, panel, api, estate };
}

/** Maintenance that begins after all tests, so that no page reports an incident. */
async function makeIncident({ opened: { service } }: World): Promise<string> {
  const from = new Date(service.clock.now().getTime() + 30 * DAY_MS);
  return await createIncident(service, {
    title: 'New storage in Paris',
    text: 'We replace disks.\nServers keep running.',
    components: ['region:par'],
    state: 'investigating',
    planned: { from, until: new Date(from.getTime() + DAY_MS) },
  });
}

async function makeWebhooks(api: V1Client, receiver: WebhookReceiver) {
  const create = async (url: string, events: readonly string[]): Promise<string> =>
    expectSuccess(await api.post('/webhooks', { url, events })).id;
  return {
    webhook: await create(receiver.url('/skerry'), ['*']),
    brokenWebhook: await create(receiver.url('/broken', respondWith(500)), [
      'volume.attached',
      'snapshot.ready',
    ]),
  };
}

async function makeToken(session: SessionClient): Promise<string> {
  const fields = { action: 'create_token', name: 'deploys', scope: 'write', current_password: PASSWORD };
  return String((await session.post('/account-api.php', fields)).body.id);
}

async function mailedLinks(world: World, email: string): Promise<Estate['links']> {
  const response = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(email)}`);
  const { mails } = (await response.json()) as { mails: readonly { readonly text: string }[] };
  const newest = (path: string): string => {
    const found = mails.flatMap(({ text }) => text.match(new RegExp(`${path}\\?token=\\S+`)) ?? []).at(-1);
    if (found === undefined) throw new Error(`no link to ${path} was mailed`);
    return found;
  };
  const { db, keys } = world.opened.service;
  const row = await db.row<{ id: string }>('select id from customers where email = $1', [email]);
  const newsOff = newsOffPaths(keys, row?.id ?? '').path;
  return { confirm: newest(LINK_PATHS.confirm), reset: newest(LINK_PATHS.reset), newsOff };
}
