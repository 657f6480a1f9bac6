/**
 * The time for one simulated year of a customer: three monthly servers, a webhook for all events, and mail.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareSandbox } from '../src/compose/seed.ts';
import { type RunningService, startService } from '../src/compose/serve.ts';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { SessionClient } from '../test/support/session-client.ts';
import { createApiToken, V1Client } from '../test/support/v1-client.ts';
import { WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { topUp } from '../test/support/world.ts';
import type { Figure } from './figure.ts';

const YEAR_S = 365 * 86_400;
const SERVERS = 3;
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

export async function benchCustomerYear(folder: string): Promise<Figure[]> {
  const dataDir = join(folder, 'year');
  const database = await startEmbedded({ dataDir });
  const receiver = await WebhookReceiver.start();
  const authority = join(folder, 'year-ca.pem');
  await writeFile(authority, receiver.authority.cert);
  const config = loadConfig({
    ...{ SKERRY_PORT: '0', SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent', SKERRY_SIM_BLOCK_S: '0' },
    ...{ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true', SKERRY_WEBHOOK_CA_FILE: authority },
  });
  try {
    const opened = await openService(config, database.connection, { mayMigrate: true });
    await prepareSandbox(opened);
    await opened.close();
    const running = await startService(config, database.connection);
    try {
      return await runYear(running, receiver);
    } finally {
      await running.stop();
    }
  } finally {
    await receiver.stop();
    await database.stop();
  }
}

async function runYear({ http, url }: RunningService, receiver: WebhookReceiver): Promise<Figure[]> {
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
  const customer = SessionClient.forUrl(url ?? '');
  await customer.signUp();
  await topUp({ sandbox, settle: async () => void (await sandbox('settle')) }, customer, 500);
  const api = V1Client.forApp(http, await createApiToken(customer));
  await api.post('/webhooks', { url: receiver.url('/hook'), events: ['*'] });
  const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
  const images = await api.get('/images?family=debian');
  const image = images.body.data.find(({ version }: { version: string }) => version === '13').id;
  for (let n = 0; n < SERVERS; n++) {
    const order = { name: `s-${n}`, plan: 's1', region: 'par', image, ssh_keys: [key.body.id] };
    const response = await api.post('/servers', order);
    if (response.status !== 201) throw new Error(response.text);
    await sandbox('clock', { advance_s: 3_600 });
  }
  const before = receiver.received.length;
  const startedAt = performance.now();
  await sandbox('clock', { advance_s: YEAR_S });
  const value = (performance.now() - startedAt) / 1_000;
  const deliveredCount = receiver.received.length - before;
  if (deliveredCount < 12 * SERVERS) throw new Error(`only ${deliveredCount} webhooks were received`);
  const name = `sandbox: a year of ${SERVERS} monthly servers, ${deliveredCount} webhooks sent`;
  return [{ name, value, unit: 's', limit: 10, goal: 3, bound: 'max' }];
}
