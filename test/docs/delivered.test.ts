/** One event reaches the receivers of the guide and the event stream with the same content. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { follow } from '../../docs/samples/events/follow.ts';
import { withTimeout } from '../cli/support/with-timeout.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld } from '../support/world.ts';
import { PROGRAM_LIMITS, SAMPLES_FOLDER, skipWithout, startReceiver } from './sample-receivers.ts';

const RECEIVER_COMMANDS = [
  [process.execPath, join(SAMPLES_FOLDER, 'webhooks/receive.ts')],
  ['python3', '-B', join(SAMPLES_FOLDER, 'webhooks/receive.py')],
];

/** Creates a key and a certificate for this machine, as the guide does. */
function createCertificate(folder: string): { TLS_CERT: string; TLS_KEY: string } {
  const [TLS_KEY, TLS_CERT] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const files = ['-keyout', TLS_KEY, '-out', TLS_CERT];
  const about = ['-nodes', '-days', '30', '-subj', '/CN=localhost', '-addext', names];
  const openssl = spawnSync('openssl', ['req', '-x509', ...curve, ...about, ...files], PROGRAM_LIMITS);
  assert.equal(openssl.status, 0, openssl.stderr.toString());
  return { TLS_CERT, TLS_KEY };
}

const skip = skipWithout('openssl', 'version') || skipWithout('python3', '--version') || FULL_ONLY.skip;

it('an event reaches webhook receivers and the stream with the same content', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-tls-'));
  const tls = createCertificate(folder);
  const world = await startWorld({
    SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
    SKERRY_WEBHOOK_CA_FILE: tls.TLS_CERT,
    SKERRY_RATE_CAPACITY: '1000',
  });
  const receivers = [];
  try {
    const token = await createApiToken(await world.customer());
    const api = V1Client.forUrl(world.url, token);
    // No subscription exists yet, so earlier events are not delivered.
    await world.settle();
    // The receiver needs the secret first, so the webhook starts with another URL.
    for (const command of RECEIVER_COMMANDS) {
      const { body: webhook } = await api.post('/webhooks', {
        url: 'https://hooks.invalid/',
        events: ['*'],
        active: false,
      });
      const receiver = await startReceiver(command, { ...tls, WEBHOOK_SECRET: webhook.secret });
      receivers.push(receiver);
      const patched = await api.patch(`/webhooks/${webhook.id}`, { url: receiver.url, active: true });
      assert.equal(patched.status, 200);
    }
    const events = follow(world.url, token, '0');
    const next = () => withTimeout(events.next(), 'an event on the stream');
    assert.equal((await next()).value.type, 'token.created');
    const name = 'naïve ✓ "one"';
    assert.equal((await api.post('/account/tokens', { name, scope: 'read' })).status, 201);
    const { value: event } = await next();
    assert.deepEqual([event.seq, event.data.api_token.name], [2, name]);
    await events.return(undefined);
    await world.settle();
    for (const receiver of receivers) assert.deepEqual(receiver.eventLines(), [`${event.id} token.created`]);
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    await world.close();
    rmSync(folder, { recursive: true });
  }
});
