/** What the documents show of the SDK runs as it is shown, by a customer who has what it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { ApiOperation } from '../../src/panel/reference/document.ts';
import { withTimeout } from '../cli/support/with-timeout.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { type CodeBlock, codeBlocks, fetchSample, REFERENCE_OPERATIONS, readGuide } from './docs-content.ts';
import { sign } from './sample-receivers.ts';
import { SampleResources } from './sample-resources.ts';
import { type SdkRunner, startSdkRunner } from './sdk-runner.ts';

/** Without servers: in every run. */
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
/** Within that time a server has been switched or installed. */
const TRANSITION_S = 300;

type Deposit = Readonly<Record<'coin' | 'deposit_address' | 'deposit_amount', string>>;

/** What ends a sample that would run for ever. */
class StopStream extends Error {}

let runner: SdkRunner;
before(async () => {
  runner = await startSdkRunner();
});
after(() => runner?.close());

/** Lines that a program prints. */
function captureConsole(t: TestContext): string[] {
  const lines: string[] = [];
  t.mock.method(console, 'log', (...words: unknown[]) => {
    lines.push(words.join(' '));
  });
  return lines;
}

describe('the samples for the SDK', () => {
  let things: SampleResources;
  before(() => {
    things = new SampleResources(runner.world, runner.api);
  });

  async function run(operation: ApiOperation): Promise<void> {
    const { before: preamble, sample } = await fetchSample(runner.world.url, operation, 'sdk');
    await runner.run(operation.id, `${preamble}\n${await things.fillIn(operation.id, sample)}\n`);
  }

  function assertAnswered({ id, status, method, path }: ApiOperation): void {
    const { responses } = runner;
    const pattern = new RegExp(`^${status} ${method} /v1${path.replaceAll(/\{\w+\}/g, '\\w+')}$`);
    assert.ok(
      responses.some((answer) => pattern.test(answer)),
      `${id}: ${responses.join(', ')}`,
    );
    const refused = responses.filter((answer) => !answer.startsWith('2'));
    assert.deepEqual(refused, [], id);
  }

  const [stream] = REFERENCE_OPERATIONS.filter(({ id }) => id === 'events.stream');
  const rest = REFERENCE_OPERATIONS.filter((operation) => operation !== stream);
  // The server goes last.
  const rows = rest.toSorted((a, b) => Number(a.id === 'servers.delete') - Number(b.id === 'servers.delete'));
  for (const operation of rows) {
    const skip = IS_FULL_RUN || ALWAYS_RUN.has(operation.id) ? false : 'npm run test:full has it';
    it(`do what they say: ${operation.id}`, { skip }, async (t) => {
      const printed = captureConsole(t);
      await run(operation);
      assertAnswered(operation);
      for (const line of printed) assert.doesNotMatch(line, /undefined/);
    });
  }

  it('do what they say: events.stream', FULL_ONLY, async (t) => {
    assert.ok(stream);
    const printed: string[] = [];
    t.mock.method(console, 'log', (...words: string[]) => {
      printed.push(words.join(' '));
      throw new StopStream();
    });
    let isOver = false;
    const heard = assert.rejects(run(stream), StopStream).finally(() => {
      isOver = true;
    });
    heard.catch(() => {});
    while (!isOver && !runner.responses.includes('200 GET /v1/events')) await runner.world.settle();
    assert.equal((await runner.api.post('/account/tokens', { name: 'a sign', scope: 'read' })).status, 201);
    await withTimeout(heard, 'an event that the sample prints');
    assertAnswered(stream);
    assert.match(printed.join('\n'), /^evt_\w+ token\.created$/);
  });
});

describe('the guides', () => {
  const blocks = codeBlocks(readGuide('customers/sdk'));
  const programOf = (shown: readonly CodeBlock[]) => {
    const source = shown.filter(({ language }) => language !== 'sh').map(({ text }) => text);
    return source.join('\n').replaceAll('https://skerry.example', runner.world.url);
  };
  /** Pays what it asks for; what it began with servers is over when it looks. */
  const hurry = async (answer: Response) => {
    if (answer.url.endsWith('/billing/topup')) await pay((await answer.json()) as Deposit);
    await runner.world.advance(TRANSITION_S);
  };

  it('lead to the first server with the SDK', FULL_ONLY, async (t) => {
    const printed = captureConsole(t);
    await runner.run(
      'first',
      programOf(codeBlocks(readGuide('customers/getting-started'), 'Use the SDK')),
      hurry,
    );
    assert.match(printed.join('\n'), /^Send [\d.]+ LTC on Litecoin to \w+\nssh root@[\d.]+$/);
  });

  it('name the package as it is called', () => {
    const { name } = JSON.parse(
      readFileSync(new URL('../../packages/sdk/package.json', import.meta.url), 'utf8'),
    );
    assert.deepEqual(
      blocks.filter(({ language }) => language === 'sh').map(({ text }) => text),
      [`npm install ./${name.slice(1).replace('/', '-')}-*.tgz\n`],
    );
  });

  it('to the SDK is one program that runs from its first line to its last', FULL_ONLY, async (t) => {
    const printed = captureConsole(t);
    const secret = 'whsec_of_the_guide';
    process.env.WEBHOOK_SECRET = secret;
    const { POST } = (await runner.run('guide', programOf(blocks), hurry)) as {
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
