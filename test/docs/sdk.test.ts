/** SDK code in the docs runs unchanged, for a customer who has the resources that it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { ApiOperation } from '../../src/panel/docs/reference/document.ts';
import { withTimeout } from '../cli/support/with-timeout.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { type CodeBlock, codeBlocks, fetchSample, REFERENCE_OPERATIONS, readGuide } from './docs-content.ts';
import { sign } from './sample-receivers.ts';
import { SampleResources } from './sample-resources.ts';
import { type SdkRunner, startSdkRunner } from './sdk-runner.ts';

/** Samples that need no server run at every level. */
const ALWAYS_RUN = new Set([
  'servers.list',
  'plans.get',
  'ssh_keys.create',
  'images.create',
  'volumes.update',
  'firewall_rules.delete',
  'deliveries.list',
  'events.stream',
]);
/** Long enough for a server to change its power state or be installed. */
const TRANSITION_S = 300;

type Deposit = Readonly<Record<'coin' | 'deposit_address' | 'deposit_amount', string>>;

/** Ends a sample that would run forever. */
class StopStream extends Error {}

let runner: SdkRunner;
before(async () => {
  runner = await startSdkRunner();
});
after(() => runner?.close());

/** Collects the lines that a program prints. */
function captureConsole(t: TestContext): string[] {
  const lines: string[] = [];
  t.mock.method(console, 'log', (...words: unknown[]) => {
    lines.push(words.join(' '));
  });
  return lines;
}

describe('the SDK samples', () => {
  let resources: SampleResources;
  before(() => {
    resources = new SampleResources(runner.world, runner.api);
  });

  async function run(operation: ApiOperation): Promise<void> {
    const { before: preamble, sample } = await fetchSample(runner.world.url, operation, 'sdk');
    await runner.run(operation.id, `${preamble}\n${await resources.fillIn(operation.id, sample)}\n`);
  }

  function assertSucceeded({ id, status, method, path }: ApiOperation): void {
    const { responses } = runner;
    const pattern = new RegExp(`^${status} ${method} /v1${path.replaceAll(/\{\w+\}/g, '\\w+')}$`);
    assert.ok(
      responses.some((response) => pattern.test(response)),
      `${id}: ${responses.join(', ')}`,
    );
    const failures = responses.filter((response) => !response.startsWith('2'));
    assert.deepEqual(failures, [], id);
  }

  const [stream] = REFERENCE_OPERATIONS.filter(({ id }) => id === 'events.stream');
  const rest = REFERENCE_OPERATIONS.filter((operation) => operation !== stream);
  // Delete the server last, because other samples use it.
  const rows = rest.toSorted((a, b) => Number(a.id === 'servers.delete') - Number(b.id === 'servers.delete'));
  for (const operation of rows) {
    const skip = IS_FULL_RUN || ALWAYS_RUN.has(operation.id) ? false : FULL_ONLY.skip;
    it(`run successfully: ${operation.id}`, { skip }, async (t) => {
      const printed = captureConsole(t);
      await run(operation);
      assertSucceeded(operation);
      for (const line of printed) assert.doesNotMatch(line, /undefined/);
    });
  }

  it('run successfully: events.stream', FULL_ONLY, async (t) => {
    assert.ok(stream);
    const printed: string[] = [];
    t.mock.method(console, 'log', (...words: string[]) => {
      printed.push(words.join(' '));
      throw new StopStream();
    });
    let isOver = false;
    const streamEnd = assert.rejects(run(stream), StopStream).finally(() => {
      isOver = true;
    });
    streamEnd.catch(() => {});
    while (!isOver && !runner.responses.includes('200 GET /v1/events')) await runner.world.settle();
    assert.equal((await runner.api.post('/account/tokens', { name: 'a token', scope: 'read' })).status, 201);
    await withTimeout(streamEnd, 'an event that the sample prints');
    assertSucceeded(stream);
    assert.match(printed.join('\n'), /^evt_\w+ token\.created$/);
  });
});

describe('the guides with SDK code', () => {
  const blocks = codeBlocks(readGuide('customers/sdk'));
  const programOf = (codeInGuide: readonly CodeBlock[]) => {
    const source = codeInGuide.filter(({ language }) => language !== 'sh').map(({ text }) => text);
    return source.join('\n').replaceAll('https://skerry.example', runner.world.url);
  };
  /** Pays new invoices and advances the clock, so that the program never waits for a server. */
  const payAndAdvance = async (response: Response) => {
    if (response.url.endsWith('/billing/topup')) await pay((await response.json()) as Deposit);
    await runner.world.advance(TRANSITION_S);
  };

  it('create a first server', FULL_ONLY, async (t) => {
    const printed = captureConsole(t);
    await runner.run(
      'first',
      programOf(codeBlocks(readGuide('customers/getting-started'), 'Use the SDK')),
      payAndAdvance,
    );
    assert.match(printed.join('\n'), /^Send [\d.]+ LTC on Litecoin to \w+\nssh root@[\d.]+$/);
  });

  it('use the correct package name', () => {
    const { name } = JSON.parse(
      readFileSync(new URL('../../packages/sdk/package.json', import.meta.url), 'utf8'),
    );
    assert.deepEqual(
      blocks.filter(({ language }) => language === 'sh').map(({ text }) => text),
      [`npm install ./${name.slice(1).replace('/', '-')}-*.tgz\n`],
    );
  });

  it('contain one program that runs from its first line to its last', FULL_ONLY, async (t) => {
    const printed = captureConsole(t);
    const secret = 'whsec_of_the_guide';
    process.env.WEBHOOK_SECRET = secret;
    const { POST } = (await runner.run('guide', programOf(blocks), payAndAdvance)) as {
      POST: (request: Request) => Promise<Response>;
    };
    const text = printed.join('\n');
    for (const line of [
      /^ssh root@[\d.]+$/m,
      /^web-1 running$/m,
      /^status: stopped$/m,
      /^Send [\d.]+ LTC on Litecoin to \w+$/m,
      /^size_gb: min 10 \(400, req_\w+\)$/m,
      /^\d+ volume\.attached$/m,
      /^web-2$/m,
    ]) {
      assert.match(text, line);
    }
    assert.doesNotMatch(text, /undefined/);

    const body = '{"id":"evt_1","object":"event","type":"server.running","data":{}}';
    const post = (t: number) => {
      const headers = { 'x-service-signature': `t=${t},v1=${sign(secret, t, body)}` };
      return POST(new Request('https://example.com/hooks', { method: 'POST', body, headers }));
    };
    const now = Math.floor(Date.now() / 1000);
    assert.equal((await post(now)).status, 204);
    assert.equal((await post(now - 400)).status, 400);
    assert.equal(printed.at(-1), 'server.running evt_1');
  });

  async function pay({ coin, deposit_address: address, deposit_amount: amount }: Deposit): Promise<void> {
    await runner.world.sandbox('payments', { coin, address, amount });
    await runner.world.sandbox('blocks', { coin, count: 6 });
  }
});
