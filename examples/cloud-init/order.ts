/**
 * Orders a server that configures itself with cloud-init.yaml, waits until it runs, and prints its addresses:
 *
 *   SKERRY_API_URL=https://… SKERRY_TOKEN=skerry_live_… node order.ts --ssh-key laptop
 *
 * A repeated run orders nothing, because a server with that name exists.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Image, isApiError, type Server, Skerry } from '@skerry/sdk';

const DEFAULT_FILE = new URL('cloud-init.yaml', import.meta.url);

const { values: wanted } = parseArgs({
  options: {
    name: { type: 'string', default: 'web-1' },
    plan: { type: 'string', default: 's1' },
    region: { type: 'string', default: 'par' },
    image: { type: 'string', default: 'debian-13' },
    'ssh-key': { type: 'string', multiple: true, default: [] },
    'user-data-file': { type: 'string' },
  },
});
const { SKERRY_API_URL: baseUrl, SKERRY_TOKEN: token } = process.env;
if (!baseUrl || !token) throw new Error('set SKERRY_API_URL and SKERRY_TOKEN');
const skerry = new Skerry({ baseUrl, token });

await main().catch((error: unknown) => {
  process.exitCode = 1;
  log(isApiError(error) ? `${error.message} (${error.requestId})` : String(error));
});

async function main(): Promise<void> {
  const server = (await findServer(wanted.name)) ?? (await orderServer());
  const isInstalling = ['provisioning', 'installing'].includes(server.status);
  const { name, status, ipv4, ipv6 } = isInstalling ? await skerry.waitFor(server, 'running') : server;
  log(`${name} is ${status}. cloud-init needs another minute or two. Then:`);
  if (ipv4) log(`  http://${ipv4.address}/\n  ssh deploy@${ipv4.address}`);
  if (ipv6) log(`  http://[${ipv6.address}]/`);
}

async function findServer(name: string): Promise<Server | undefined> {
  const servers = await skerry.servers.list({ filter: { name } }).all();
  const server = servers.find(({ status }) => status !== 'destroying');
  if (server) log(`Server ${name} already exists, so nothing was ordered.`);
  return server;
}

async function orderServer(): Promise<Server> {
  const [image, keys, plan] = await Promise.all([
    newestImage(wanted.image),
    findKeyIds(wanted['ssh-key']),
    skerry.plans.get(wanted.plan),
  ]);
  const price = plan.cycles.find(({ billing_months }) => billing_months === 1)?.price_usd;
  log(`Ordering ${wanted.name}: ${plan.id} in ${wanted.region} for one month, $${price} from your balance.`);
  return await skerry.servers.create({
    name: wanted.name,
    plan: plan.id,
    region: wanted.region,
    image: image.id,
    ssh_keys: keys,
    labels: { role: 'web' },
    // Send the file unchanged: its first line identifies it to cloud-init.
    user_data_b64: readFileSync(wanted['user-data-file'] ?? DEFAULT_FILE).toString('base64'),
  });
}

/** Finds an image by family (`debian`, the newest) or by family and version (`debian-13`). */
async function newestImage(name: string): Promise<Image> {
  const [family = '', version] = name.split(/-(.*)/);
  const images = await skerry.images.list({ filter: { family, type: 'official' } }).all();
  const matching = images
    .filter((image) => image.cloud_init && image.deprecated_at === null)
    .filter((image) => version === undefined || image.version === version)
    .sort((a, b) => b.released_at.localeCompare(a.released_at));
  if (!matching[0]) throw new Error(`image ${name} with cloud-init not found`);
  return matching[0];
}

/** Returns the IDs of the named keys, or of all keys if none is named. */
async function findKeyIds(names: readonly string[]): Promise<string[]> {
  const keys = await skerry.sshKeys.list().all();
  const missing = names.find((name) => !keys.some((key) => key.name === name));
  if (missing) throw new Error(`SSH key ${missing} not found in the account`);
  const chosen = keys.filter((key) => names.length === 0 || names.includes(key.name));
  if (chosen.length === 0) throw new Error('the account has no SSH key; add one first');
  return chosen.map((key) => key.id);
}

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
