/**
 * The SDK as customers install it: packed, installed in an empty folder, and used against the service from
 * there.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NO_RATES } from '../http/v1/contract/estate.ts';
import { NO_CHROMIUM, openChromium, pageErrors } from '../support/chromium.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { bundle } from './bundle.ts';
import { NODES } from './nodes.ts';
import { installPacked, lintTarball, type PackedFolder, ROOT } from './packed-folder.ts';

const CONSUMER = join(ROOT, 'test/sdk/consumer');
/** A finished program exits at once: far below the one-minute timeout of a call. */
const END_MAX_MS = 5_000;

function signedNow() {
  const [body, secret, t] = ['{"type":"ping"}', 'whsec_x', Math.floor(Date.now() / 1_000)];
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  const headers = { 'x-service-signature': `t=${t},v1=${v1}`, 'x-service-delivery-id': 'del_1' };
  return { body, headers, secret };
}

describe('the packed SDK', FULL_ONLY, () => {
  let world: World;
  let token: string;
  let packed: PackedFolder;

  before(async () => {
    packed = await installPacked(['sdk']);
    mkdirSync(join(packed.folder, 'node_modules/@types'));
    for (const types of ['@types/node', 'undici-types']) {
      symlinkSync(join(ROOT, 'node_modules', types), join(packed.folder, 'node_modules', types));
    }
    world = await startWorld(NO_RATES);
    token = await createApiToken(await world.customer());
    await world.settle();
  });
  after(async () => {
    await world.close();
    packed.remove();
  });

  it('publint finds no problem in the package', async () => {
    assert.deepEqual(await lintTarball(packed.tarballs[0] ?? ''), []);
  });

  for (const { major, path, missing } of NODES) {
    it(`a program on Node ${major} uses the packed SDK and exits when it is done`, {
      skip: missing,
    }, async () => {
      assert.ok(path, `Node ${major} is not installed`);
      cpSync(join(CONSUMER, 'use.mjs'), join(packed.folder, 'use.mjs'));
      const child = spawn(path, ['use.mjs'], {
        cwd: packed.folder,
        env: { SKERRY_API_URL: world.url, SKERRY_TOKEN: token, WEBHOOK: JSON.stringify(signedNow()) },
      });
      let [stdout, stderr, printedAtMs] = ['', '', 0];
      child.stdout.on('data', (data) => {
        stdout += data;
        printedAtMs = performance.now();
      });
      child.stderr.on('data', (data) => {
        stderr += data;
      });
      const [code] = await once(child, 'close');
      const endedMs = performance.now() - printedAtMs;
      assert.equal(stderr, '');
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(stdout), {
        regions: ['buh', 'par', 'rkv', 'zrh'],
        plans: 1,
        made: 'api_token',
        missing: true,
        seen: 'token.created',
        event: 'ping',
        delivery: 'del_1',
      });
      assert.ok(endedMs < END_MAX_MS, `${endedMs} ms`);
    });
  }

  const compilers = [
    ['TypeScript 5.9', [process.execPath, join(ROOT, 'node_modules/typescript/lib/tsc.js')]],
    ['TypeScript 7', [join(ROOT, `node_modules/@typescript/typescript-linux-${process.arch}/lib/tsc`)]],
  ] as const;
  for (const [name, [command, ...args]] of compilers) {
    for (const resolution of ['bundler', 'nodenext']) {
      for (const lib of ['dom', 'node']) {
        it(`the types of the SDK compile with ${name}, ${resolution}, and the types of ${lib}`, () => {
          const folder = join(packed.folder, `types-${resolution}-${lib}`);
          mkdirSync(folder, { recursive: true });
          cpSync(join(CONSUMER, 'use.ts'), join(folder, 'use.ts'));
          const compilerOptions = {
            strict: true,
            skipLibCheck: false,
            noEmit: true,
            target: 'es2022',
            module: resolution === 'bundler' ? 'esnext' : 'nodenext',
            moduleResolution: resolution,
            ...(lib === 'dom'
              ? { lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [] }
              : {}),
            ...(lib === 'node' ? { lib: ['es2023'], types: ['node'] } : {}),
          };
          writeFileSync(
            join(folder, 'tsconfig.json'),
            JSON.stringify({ compilerOptions, files: ['use.ts'] }),
          );
          const { status, stdout } = spawnSync(command, [...args, '--project', folder], { encoding: 'utf8' });
          assert.equal(stdout, '');
          assert.equal(status, 0);
        });
      }
    }
  }

  it('a page of another origin uses the packed SDK', { skip: NO_CHROMIUM }, async () => {
    cpSync(join(CONSUMER, 'page.ts'), join(packed.folder, 'page.ts'));
    const script = bundle(join(packed.folder, 'page.ts'), ['--format=iife', '--global-name=sdk']);
    const site = createServer((request, response) => {
      if (request.url === '/') response.setHeader('content-type', 'text/html');
      response.end(request.url === '/' ? '<script src="/sdk.js"></script>' : script);
    });
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const chromium = await openChromium();
    try {
      await using page = await chromium.page();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      const input = { baseUrl: world.url, token, webhook: signedNow() };
      const result = await page.evaluate(
        (given) => (globalThis as unknown as { sdk: { use(one: object): Promise<object> } }).sdk.use(given),
        input,
      );
      const plans = await (
        await fetch(`${world.url}/v1/plans`, { headers: { authorization: `Bearer ${token}` } })
      ).json();
      const { length } = (plans as { data: unknown[] }).data;
      assert.deepEqual(result, {
        plans: length,
        code: 'not_found',
        named: true,
        seen: 'token.created',
        event: 'ping',
      });
      // The browser logs failed requests on its own.
      const errors = pageErrors(page).filter(
        (one) => !one.includes('404') && !/ERR_ABORTED|\/v1\/events/.test(one),
      );
      assert.deepEqual(errors, []);
    } finally {
      await chromium.close();
      site.closeAllConnections();
      site.close();
    }
  });
});
