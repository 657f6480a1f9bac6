/** The time for one simulated year of a sandbox with many servers, ordered one after the other. */
import { join } from 'node:path';
import { prepareSandbox } from '../src/compose/seed.ts';
import { type RunningService, startService } from '../src/compose/serve.ts';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { SessionClient } from '../test/support/session-client.ts';
import { createApiToken, V1Client } from '../test/support/v1-client.ts';
import { topUp } from '../test/support/world.ts';
import type { Figure } from './figure.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const DAY_S = 86_400;
/** The quota of an account. */
const SERVERS_PER_CUSTOMER = 50;
const CUSTOMERS = 20;

export async function benchFleetYear(folder: string): Promise<Figure[]> {
  const dataDir = join(folder, 'fleet-year');
  const database = await startEmbedded({ dataDir });
  const config = loadConfig({
    ...{ SKERRY_PORT: '0', SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent', SKERRY_SIM_BLOCK_S: '0' },
  });
  try {
    const opened = await openService(config, database.connection, { mayMigrate: true });
    await prepareSandbox(opened);
    await opened.close();
    const running = await startService(config, database.connection);
    try {
      return await runYear(running);
    } finally {
      await running.stop();
    }
  } finally {
    await database.stop();
  }
}

async function runYear({ http, url, opened }: RunningService): Promise<Figure[]> {
  const sandbox = async (name: string, body: object = {}) => {
    const response = await http.inject({
      method: 'POST',
      url: `/sandbox/${name}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    if (response.statusCode !== 200) throw new Error(`/sandbox/${name}: ${response.body}`);
    return response.json<Record<string, unknown>>();
  };
  for (let n = 0; n < CUSTOMERS; n++) {
    const customer = SessionClient.forUrl(url ?? '');
    await customer.signUp();
    await topUp({ sandbox, settle: async () => void (await sandbox('settle')) }, customer, 5_000);
    await orderServers(V1Client.forApp(http, await createApiToken(customer)));
  }
  await sandbox('settle');
  const startedAt = performance.now();
  await sandbox('clock', { advance_s: 365 * DAY_S });
  const value = (performance.now() - startedAt) / 1_000;
  const left = await opened.db.row<{ count: bigint }>(
    "select count(*) from servers where status = 'running'",
  );
  if (Number(left?.count) !== CUSTOMERS * SERVERS_PER_CUSTOMER)
    throw new Error(`only ${left?.count} servers run at the end`);
  const name = `sandbox: a year of ${CUSTOMERS * SERVERS_PER_CUSTOMER} monthly servers`;
  return [{ name, value, unit: 's', limit: 60, goal: 30, bound: 'max' }];
}

async function orderServers(api: V1Client): Promise<void> {
  const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
  const images = await api.get('/images?family=debian');
  const image = images.body.data.find(({ version }: { version: string }) => version === '13').id;
  const regions: string[] = (await api.get('/regions')).body.data.map(({ id }: { id: string }) => id);
  for (let n = 0; n < SERVERS_PER_CUSTOMER; n++) {
    const region = regions[n % regions.length];
    const order = { name: `s-${n}`, plan: 's1', region, image, ssh_keys: [key.body.id] };
    const response = await api.post('/servers', order);
    if (response.status !== 201) throw new Error(response.text);
  }
}
