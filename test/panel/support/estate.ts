/** Creates one of every resource that a customer can have, through the REST API. */
import assert from 'node:assert/strict';
import type { JsonBody, V1Client, V1Response } from '../../support/v1-client.ts';
import type { World } from '../../support/world.ts';

export const DAY_S = 86_400;
const KEY_HEAD = '\0\0\0\x0bssh-ed25519\0\0\0 ';

/** Returns the line of a public key file. Different bytes give different keys. */
export function publicKey(byte: number, comment: string): string {
  const blob = Buffer.concat([Buffer.from(KEY_HEAD, 'latin1'), Buffer.alloc(32, byte)]);
  return `ssh-ed25519 ${blob.toString('base64')} ${comment}`;
}

/** Returns the body of a successful response, or fails. */
export function expectSuccess(response: V1Response): JsonBody {
  assert.ok(response.status < 300, `${response.status} ${response.text}`);
  return response.body;
}

export interface Servers {
  /** Billed yearly, with metrics, names, tags, a firewall, a volume, and snapshots. */
  readonly running: string;
  readonly stopped: string;
  /** Suspended for insufficient balance. */
  readonly suspended: string;
  /** Suspended because auto-renew is off. */
  readonly lapsed: string;
  readonly dedicated: string;
  readonly keys: readonly [string, string];
  readonly image: string;
}

/** The balance pays every first cycle, but not the second of the priciest server. Advances by a month. */
export async function makeServers(world: World, api: V1Client): Promise<Servers> {
  const images = expectSuccess(await api.get('/images?family=debian&page_size=100')).data as JsonBody[];
  const image = images.find(({ version }) => version === '13').id as string;
  const key = async (byte: number, name: string) => {
    const fields = { name, public_key: publicKey(byte, `ada@${name}`) };
    return expectSuccess(await api.post('/ssh-keys', fields)).id as string;
  };
  const keys = [await key(1, 'laptop'), await key(2, 'workshop')] as const;
  const deploy = async (body: object): Promise<string> =>
    expectSuccess(await api.post('/servers', { region: 'par', image, ssh_keys: [keys[0]], ...body })).id;
  const running = await deploy({
    name: 'web-1',
    plan: 's2',
    billing_months: 12,
    tags: ['web', 'production'],
    labels: { env: 'prod', owner: 'ada' },
  });
  const stopped = await deploy({ name: 'db-1', plan: 's1', billing_months: 3 });
  const suspended = await deploy({ name: 'archive', plan: 'r2', billing_months: 1 });
  const lapsed = await deploy({ name: 'old-shop', plan: 's1', billing_months: 1, auto_renew: false });
  await world.advance(31 * DAY_S);
  const dedicated = await deploy({ name: 'metal-1', plan: 'r1', region: 'zrh', tags: ['metal'] });
  expectSuccess(await api.post(`/servers/${stopped}/stop`));
  await world.advance(2_000);
  const { address } = expectSuccess(await api.get(`/servers/${running}`)).ipv6;
  const names = { ipv4: 'web-1.example.org', ipv6: 'web-1.example.org' };
  expectSuccess(await api.post(`/servers/${running}/rdns`, names));
  const other = { ipv6: 'mail.example.org', address: address.replace(/::1$/, '::25') };
  expectSuccess(await api.post(`/servers/${running}/rdns`, other));
  return { running, stopped, suspended, lapsed, dedicated, keys, image };
}

export interface Resources {
  readonly attached: string;
  readonly detached: string;
  readonly snapshot: string;
  readonly failedSnapshot: string;
  readonly group: string;
  readonly emptyGroup: string;
  readonly ownImage: string;
}

const ANY = '0.0.0.0/0';
const RULES = [
  { direction: 'in', proto: 'tcp', port: '80,443', source: ANY, action: 'accept', note: 'the web' },
  { direction: 'in', proto: 'tcp', port: '80,443', source: '::/0', action: 'accept' },
  {
    direction: 'in',
    proto: 'tcp',
    port: '22',
    source: '198.51.100.0/24',
    action: 'accept',
    note: 'the office',
  },
  { direction: 'in', proto: 'icmp', source: ANY, action: 'accept' },
  { direction: 'out', proto: 'tcp', port: '25', source: ANY, action: 'reject', note: 'no mail' },
];

export async function makeResources(
  world: World,
  api: V1Client,
  servers: Servers,
  iso: Buffer,
): Promise<Resources> {
  const { running } = servers;
  const data = { name: 'data', size_gb: 100, region: 'par' };
  const attached = expectSuccess(await api.post('/volumes', data)).id;
  const backup = { name: 'backup', size_gb: 250, region: 'zrh', encrypted: true, filesystem: 'ext4' };
  const detached = expectSuccess(await api.post('/volumes', backup)).id;
  expectSuccess(await api.post(`/volumes/${attached}/attach`, { server: running }));
  await world.sandbox('faults', { driver: 'compute', operation: 'snapshot', times: 1 });
  const snapshots = `/servers/${running}/snapshots`;
  const failedSnapshot = expectSuccess(await api.post(snapshots, { name: 'at night' })).id;
  await world.advance(60);
  const snapshot = expectSuccess(await api.post(snapshots, { name: 'before the upgrade' })).id;
  const group = await makeGroup(api, 'web', [running], RULES);
  const emptyGroup = await makeGroup(api, 'closed', [], []);
  const ownImage = await upload(world, api, iso);
  await world.advance(60);
  return { attached, detached, snapshot, failedSnapshot, group, emptyGroup, ownImage };
}

export async function makeGroup(
  api: V1Client,
  name: string,
  appliedTo: readonly string[],
  rules: readonly object[],
): Promise<string> {
  const body = { name, default_action: 'drop', applied_to: appliedTo, rules };
  return expectSuccess(await api.post('/firewall/groups', body)).id;
}

async function upload(world: World, api: V1Client, iso: Buffer): Promise<string> {
  const form = new FormData();
  form.append('name', 'rescue-disk');
  form.append('version', '2026.1');
  form.append('file', new Blob([new Uint8Array(iso)]), 'rescue.iso');
  const response = await fetch(`${world.url}/v1/images`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${api.token}` },
  });
  assert.equal(response.status, 201);
  return ((await response.json()) as { id: string }).id;
}
