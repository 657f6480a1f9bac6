/** A real service that runs with canary secrets, and a search of everything that it stores and logs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/db.ts';
import { findEmbedded } from '../../src/store/embedded/index.ts';
import { Canaries, dumpDatabase } from '../support/canaries.ts';
import { startMailServer } from '../support/mail-server.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, startSkerryd } from '../support/skerryd-process.ts';
import { type JsonBody, V1Client } from '../support/v1-client.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

/**
 * The source of a request: through a trusted proxy, or directly from an untrusted address of this machine.
 */
export interface RequestOrigin {
  readonly forwarded?: string;
  readonly socket?: string;
}
export const VIA_PROXY_IPV4 = { forwarded: '193.0.6.139' };
export const VIA_PROXY_IPV6 = { forwarded: '2001:67c:2e8:22::c100:68b' };
export const DIRECT = { socket: '127.77.88.99' };

export type CanaryWorld = Awaited<ReturnType<typeof startCanaryWorld>>;

export async function startCanaryWorld() {
  const canaries = new Canaries();
  const folder = await mkdtemp(join(tmpdir(), 'skerry-canary-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const [receiver, mailServer] = await Promise.all([WebhookReceiver.start(), startMailServer()]);
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, receiver.authority.cert);
  const mailPassword = canaries.add('the mail server’s password', 'Mailer_Pw_5512-canary');
  const serving = await startSkerryd({
    SKERRY_DATA_DIR: join(folder, 'data'),
    SKERRY_LOG_LEVEL: 'trace',
    SKERRY_SIM_BLOCK_S: '0',
    SKERRY_SIM_INSTALL_S: '1.5',
    SKERRY_TRUSTED_PROXIES: '127.0.0.1',
    SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
    SKERRY_WEBHOOK_CA_FILE: caFile,
    SKERRY_RATE_CAPACITY: '1000',
    SKERRY_SMTP_URL: `smtp://mailer:${mailPassword}@127.0.0.1:${mailServer.port}`,
    SKERRY_MAIL_FROM: 'Skerry <no-reply@skerry.example>',
  });
  canaries.add('an IPv4 address', VIA_PROXY_IPV4.forwarded);
  canaries.add('an IPv6 address', VIA_PROXY_IPV6.forwarded);
  canaries.add('an IPv6 address in full', '2001:067c:02e8:0022:0000:0000:c100:068b');
  canaries.add('a direct address', DIRECT.socket);

  /** Sends requests from this source. Every cookie and CSRF token that comes back becomes a canary. */
  const sender =
    (from: RequestOrigin) =>
    async (sent: {
      method: string;
      path: string;
      headers: Record<string, string>;
      body?: string | undefined;
    }) => {
      const url = new URL(sent.path, serving.url);
      const headers = {
        ...sent.headers,
        ...(from.forwarded === undefined ? {} : { 'x-forwarded-for': from.forwarded }),
        // Without a length the body would be chunked, and GET must not have a chunked body.
        ...(sent.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent.body)) }),
      };
      const { method } = sent;
      const outgoing = request(url, {
        method,
        headers,
        ...(from.socket ? { localAddress: from.socket } : {}),
      });
      outgoing.end(sent.body);
      const [response] = await once(outgoing, 'response');
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();
      const headerEntries = Object.entries(response.headers).flatMap(([name, value]) =>
        [value].flat().map((single): [string, string] => [name, String(single)]),
      );
      for (const [name, value] of headerEntries) {
        const cookie = name === 'set-cookie' ? /^PHPSESSID=([^;]+)/.exec(value)?.[1] : undefined;
        if (cookie) canaries.add('a cookie', cookie);
      }
      const csrf = /"csrf":"([0-9a-f]{64})"/.exec(text)?.[1];
      if (csrf) canaries.add('a CSRF token', csrf);
      return { status: response.statusCode ?? 0, headers: new Headers(headerEntries), text };
    };

  const visitor = (from: RequestOrigin) =>
    new SessionClient(sender(from) as ConstructorParameters<typeof SessionClient>[0]);
  const client = (from: RequestOrigin, token: string) =>
    new V1Client(sender(from) as ConstructorParameters<typeof V1Client>[0], token);
  const idempotencyKey = (name: string) =>
    canaries.add(`the idempotency key of the ${name}`, `idempotency-canary-${name}-81`);

  async function sandbox(name: string, body: object = {}): Promise<JsonBody> {
    const response = await fetch(`${serving.url}/sandbox/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${name}: ${text}`);
    return JSON.parse(text);
  }

  /** Returns the token of the newest link that was mailed to an address. */
  async function mailedLink(address: string, path: string): Promise<string> {
    await sandbox('settle');
    const response = await fetch(`${serving.url}/sandbox/mails?to=${encodeURIComponent(address)}`);
    const { mails } = (await response.json()) as { mails: { text: string }[] };
    const links = mails.flatMap(({ text }) => [...text.matchAll(/\/(confirm|reset)\?token=([\w-]+)/g)]);
    const [, , token] =
      links.filter(([, kind]) => kind === path).at(-1) ?? assert.fail(`no ${path} link was mailed`);
    return canaries.add(`a ${path} link`, token ?? '');
  }

  async function assertNoCanaries(place: string): Promise<string> {
    const connection = await findEmbedded({ dataDir: join(folder, 'data') });
    const db = openDatabase(connection ?? assert.fail('no database'), { poolSize: 1 });
    try {
      const text = await dumpDatabase(db);
      assert.deepEqual(canaries.findIn(text, 'database'), [], place);
      return text;
    } finally {
      await db.close();
    }
  }

  const close = async () => {
    killLeftovers();
    await Promise.all([receiver.stop(), mailServer.close()]);
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  };
  const tools = {
    visitor,
    client,
    key: idempotencyKey,
    sandbox,
    mailedLink,
    assertNoCanaries,
    close,
  };
  return { canaries, folder, serving, receiver, ...tools };
}

/** Returns the body of a response that must be successful. */
export async function expectSuccess(
  response: Promise<{ status: number; text: string; body: JsonBody }>,
): Promise<JsonBody> {
  const { status, text, body } = await response;
  assert.ok(status < 300 && body?.ok !== false, text);
  return body;
}
