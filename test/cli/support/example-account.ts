/** An account with the resources that examples of commands use, and a folder to run them in. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NO_RATES, PUBLIC_KEY, RULE } from '../../http/v1/contract/estate.ts';
import { isoFile } from '../../support/iso.ts';
import { createApiToken, type JsonBody, V1Client, type V1Response } from '../../support/v1-client.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startWorld, type World } from '../../support/world.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));
const BALANCE_CENTS = 100_000n;

const DESIRED = `project: site
servers:
  - name: web-2
    plan: s1
    region: par
    image: debian-13
    ssh_keys: [laptop]
`;

export interface ExampleWorld extends World {
  readonly receiver: WebhookReceiver;
  /** For files; deleted when the world is closed. */
  readonly folder: string;
}

export async function startExampleWorld(): Promise<ExampleWorld> {
  const receiver = await WebhookReceiver.start();
  const folder = mkdtempSync(join(tmpdir(), 'skerry-examples-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, receiver.authority.cert);
  const world = await startWorld({
    ...NO_RATES,
    SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
    SKERRY_WEBHOOK_CA_FILE: caFile,
  });
  const close = async () => {
    await world.close();
    await receiver.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...world, receiver, folder, close };
}

export interface ExampleAccount {
  readonly world: ExampleWorld;
  readonly api: V1Client;
  readonly token: string;
  /** IDs by the names in examples, such as `web-1`. */
  readonly named: Readonly<Record<string, string>>;
  /** IDs of resources without names, by prefix, such as `whk`. */
  readonly unnamed: Readonly<Record<string, string>>;
  /** The working directory and HOME of the examples, with their files. */
  readonly folder: string;
  readonly create: (path: string, body?: object) => Promise<JsonBody>;
}

export async function createExampleAccount(world: ExampleWorld): Promise<ExampleAccount> {
  const customer = await world.customer();
  await world.addBalance(customer, BALANCE_CENTS);
  const token = await createApiToken(customer);
  const api = V1Client.forApp(world.http, token);
  const create = (path: string, body?: object) => expectOk(api.post(path, body));
  const laptop = await create('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
  const oldLaptop = await create('/ssh-keys', { name: 'old-laptop', public_key: PUBLIC_KEY });
  const { data: images } = await expectOk(api.get('/images?family=debian'));
  const image = images.find((one: JsonBody) => one.version === '13');
  const order = { name: 'web-1', plan: 's1', region: 'par', image: image.id, ssh_keys: [laptop.id] };
  const server = await create('/servers', order);
  const data = await create('/volumes', { name: 'data', size_gb: 50, region: 'par' });
  const web = await create('/firewall/groups', { name: 'web', default_action: 'drop', rules: [RULE] });
  const oldWeb = await create('/firewall/groups', { name: 'old-web', default_action: 'drop' });
  const condition = { name: 'busy', metric: 'cpu_pct', value: 90 };
  const busy = await create('/alerts', { ...condition, servers: [server.id] });
  const ticket = await create('/tickets', { subject: 'A question', text: 'How?' });
  const ci = await create('/account/tokens', { name: 'ci', scope: 'write' });
  const webhook = await create('/webhooks', { url: world.receiver.url('/hooks'), events: ['*'] });
  const topup = await create('/billing/topup', { coin: 'LTC', amount_usd: 30 });
  await world.settle();
  const snapshot = await create(`/servers/${server.id}/snapshots`, { name: 'before-upgrade' });
  const delivery = await create(`/webhooks/${webhook.id}/test`);
  await world.settle();
  const { data: action } = await expectOk(api.get('/actions?page_size=1'));
  const { data: audit } = await expectOk(api.get('/audit/events?page_size=1'));
  return {
    world,
    api,
    token,
    create,
    folder: createHome(world.folder, token),
    named: {
      'web-1': server.id,
      data: data.id,
      'before-upgrade': snapshot.id,
      laptop: laptop.id,
      'old-laptop': oldLaptop.id,
      web: web.id,
      'old-web': oldWeb.id,
      ci: ci.id,
      busy: busy.id,
      'debian-13': image.id,
    },
    unnamed: {
      whk: webhook.id,
      del: delivery.id,
      audit: audit[0].id,
      act: action[0].id,
      top: topup.id,
      tkt: ticket.id,
    },
  };
}

/** Creates the folder with the files of the examples; its `bin` comes first in PATH. */
function createHome(parent: string, token: string): string {
  const folder = mkdtempSync(join(parent, 'home-'));
  mkdirSync(join(folder, '.ssh'));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, '.ssh/id_ed25519.pub'), `${PUBLIC_KEY}\n`);
  writeFileSync(join(folder, 'rescue.iso'), isoFile());
  writeFileSync(join(folder, 'token.txt'), `${token}\n`);
  writeFileSync(join(folder, 'skerry.yaml'), DESIRED);
  writeScript(folder, 'skerry', `exec '${process.execPath}' '${BIN}' "$@"`);
  // There is no real server to connect to.
  writeScript(folder, 'ssh', 'exit 0');
  return folder;
}

/** Replaces the context file, as `skerry login` writes it; the first context is the current one. */
export function saveContexts({ world, token, folder }: ExampleAccount, names: readonly string[]): void {
  const path = join(folder, '.config/skerry/config.json');
  const contexts = Object.fromEntries(names.map((name) => [name, { url: world.url, token }]));
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify({ current: names[0], contexts }), { mode: 0o600 });
}

function writeScript(folder: string, name: string, line: string): void {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

export async function expectOk(response: Promise<V1Response>): Promise<JsonBody> {
  const { status, body, text } = await response;
  assert.ok(status < 300, text);
  return body;
}
