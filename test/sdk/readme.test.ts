/** Each sample in the README of the SDK is a program that runs against the service. */

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { NO_RATES, PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import { freePort } from '../support/free-port.ts';
import { isoFile } from '../support/iso.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { sdkSize } from './bundle.ts';
import { ROOT } from './packed-folder.ts';

const README = readFileSync(join(ROOT, 'packages/sdk/README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
const CLIENT = /^import \{ Skerry \}.*?^\}\);\n/ms.exec(BLOCKS[0] ?? '')?.[0] ?? '';
const SECRET = 'whsec_of_the_readme';

/** Each sample as a whole program: the client of the first one is added to all that use it. */
const SAMPLES = BLOCKS.map((block) =>
  block.includes('skerry.') && !block.includes('new Skerry') ? `${CLIENT}${block}` : block,
);
const sampleWith = (text: string) => {
  const index = SAMPLES.findIndex((sample) => sample.includes(text));
  assert.ok(index >= 0, text);
  return `sample-${index}.ts`;
};

function signed(body: string): Record<string, string> {
  const t = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex');
  return { 'x-service-signature': `t=${t},v1=${v1}` };
}

describe('the README of the SDK', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-readme-'));

  before(() => {
    mkdirSync(join(folder, 'node_modules/@skerry'), { recursive: true });
    symlinkSync(join(ROOT, 'packages/sdk'), join(folder, 'node_modules/@skerry/sdk'));
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [index, sample] of SAMPLES.entries())
      writeFileSync(join(folder, `sample-${index}.ts`), sample);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('the samples of the README compile', () => {
    assert.equal(SAMPLES.length, 10);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2024',
      types: ['node'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const tsc = join(ROOT, `node_modules/@typescript/typescript-linux-${process.arch}/lib/tsc`);
    const { stdout } = spawnSync(tsc, ['--project', folder], { encoding: 'utf8' });
    assert.equal(stdout, '');
  });

  it('the README states the size of the SDK', () => {
    const kilobytes = Math.round(sdkSize().gzippedBytes / 1_000);
    assert.ok(README.includes(`about ${kilobytes} kB, minified and gzipped`), `${kilobytes} kB`);
  });

  it(
    'the webhook receivers of the README accept only genuine deliveries, for Node and for a Request',
    FULL_ONLY,
    async () => {
      const [genuine, changed] = ['{"id":"evt_1","type":"ping"}', '{"id":"evt_2","type":"ping"}'];
      const port = await freePort();
      const env = { PORT: String(port), WEBHOOK_SECRET: SECRET };
      const receiver = spawn(process.execPath, [sampleWith('createServer')], { cwd: folder, env });
      try {
        const url = `http://127.0.0.1:${port}/`;
        await listening(url, receiver);
        const post = async (body: string, headers: Record<string, string>) =>
          (await fetch(url, { method: 'POST', body, headers })).status;
        assert.equal(await post(genuine, signed(genuine)), 204);
        assert.equal(await post(changed, signed(genuine)), 400);
        assert.equal(await post(genuine, {}), 400);
        assert.equal(await post('x'.repeat(1024 * 1024 + 1), {}), 413);
      } finally {
        receiver.kill();
      }
      process.env.WEBHOOK_SECRET = SECRET;
      const handler = (await import(
        pathToFileURL(join(folder, sampleWith('export async function POST'))).href
      )) as {
        POST(request: Request): Promise<Response>;
      };
      const ask = (body: string, headers: Record<string, string>) =>
        handler.POST(new Request('http://127.0.0.1/', { method: 'POST', body, headers }));
      assert.equal((await ask(genuine, signed(genuine))).status, 204);
      assert.equal((await ask(changed, signed(genuine))).status, 400);
    },
  );

  it('the samples of the README run against the service, one after the other', FULL_ONLY, async () => {
    const world: World = await startWorld(NO_RATES);
    try {
      const customer = await world.customer();
      await world.addBalance(customer, 10_000n);
      const token = await createApiToken(customer);
      const api = V1Client.forUrl(world.url, token);
      await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
      writeFileSync(join(folder, 'system.iso'), isoFile());
      const env = { SKERRY_API_URL: world.url, SKERRY_TOKEN: token };
      const run = async (text: string) => {
        const { stdout, stderr } = await promisify(execFile)(process.execPath, [sampleWith(text)], {
          cwd: folder,
          env,
        });
        assert.equal(stderr, '', text);
        return stdout;
      };
      assert.equal(await run('balance.get'), 'Balance: $100\n');
      assert.match(await run('waitFor(server'), /running\n\d+\.\d+\.\d+\.\d+\n$/);
      assert.match(await run('servers.list'), /^web-1 \d.*\n\d+ \d+ (?:true|false)\n$/);
      assert.match(await run('isApiError'), /^400 invalid_request invalid_\w+\n$/);
      assert.equal(await run('idempotencyKey'), 'true\n');
      assert.match(await run('events.stream'), /^1 \S+\n(?:.*\n)*\d+ server\.running\n$/);
      assert.match(await run('openAsBlob'), /^custom_\w+\n$/);
      assert.match(await run('AbortSignal.timeout'), /\bs1\b/);
    } finally {
      await world.close();
    }
  });
});

/** Resolves when the receiver responds. */
async function listening(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
    if (response) return;
  }
  assert.fail('the receiver has exited');
}
