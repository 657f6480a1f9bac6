/** What the documents show of the SDK runs as it is shown, by a customer who has what it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { ApiOperation } from '../../src/panel/reference/document.ts';
import { within } from '../cli/support/within.ts';
import { FULL, IN_FULL } from '../support/runs.ts';
import { signed } from './receivers.ts';
import { SampleThings } from './sample-things.ts';
import { openSdkDesk, type SdkDesk } from './sdk-desk.ts';
import { type Block, blocksOf, guideText, SHOWN_OPERATIONS, shownAt } from './shown.ts';

/** Without servers: in every run. */
const CHEAP = new Set([
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
const SWITCH_S = 300;

type Deposit = Readonly<Record<'coin' | 'deposit_address' | 'deposit_amount', string>>;

/** What ends a sample that would run for ever. */
class Heard extends Error {}

let desk: SdkDesk;
before(async () => {
  desk = await openSdkDesk();
});
after(() => desk?.close());

/** Lines that a program prints. */
function printedIn(t: TestContext): string[] {
  const lines: string[] = [];
  t.mock.method(console, 'log', (...words: unknown[]) => {
    lines.push(words.join(' '));
  });
  return lines;
}

describe('the samples for the SDK', () => {
  let things: SampleThings;
  before(() => {
    things = new SampleThings(desk.world, desk.api);
  });

  async function run(operation: ApiOperation): Promise<void> {
    const { before: preamble, sample } = await shownAt(desk.world.url, operation, 'sdk');
    await desk.run(operation.id, `${preamble}\n${await things.putInto(operation.id, sample)}\n`);
  }

  function assertAnswered({ id, status, method, path }: ApiOperation): void {
    const { answers } = desk;
    const pattern = new RegExp(`^${status} ${method} /v1${path.replaceAll(/\{\w+\}/g, '\\w+')}$`);
    assert.ok(
      answers.some((answer) => pattern.test(answer)),
      `${id}: ${answers.join(', ')}`,
    );
    const refused = answers.filter((answer) => !answer.startsWith('2'));
    assert.deepEqual(refused, [], id);
  }

  const [stream] = SHOWN_OPERATIONS.filter(({ id }) => id === 'events.stream');
  const rest = SHOWN_OPERATIONS.filter((operation) => operation !== stream);
  // The server goes last.
  const rows = rest.toSorted((a, b) => Number(a.id === 'servers.delete') - Number(b.id === 'servers.delete'));
  for (const operation of rows) {
    const skip = FULL || CHEAP.has(operation.id) ? false : 'npm run test:full has it';
    it(`do what they say: ${operation.id}`, { skip }, async (t) => {
      const printed = printedIn(t);
      await run(operation);
      assertAnswered(operation);
      for (const line of printed) assert.doesNotMatch(line, /undefined/);
    });
  }

  it('do what they say: events.stream', IN_FULL, async (t) => {
    assert.ok(stream);
    const printed: string[] = [];
    t.mock.method(console, 'log', (...words: string[]) => {
      printed.push(words.join(' '));
      throw new Heard();
    });
    let isOver = false;
    const heard = assert.rejects(run(stream), Heard).finally(() => {
      isOver = true;
    });
    heard.catch(() => {});
    while (!isOver && !desk.answers.includes('200 GET /v1/events')) await desk.world.settle();
    assert.equal((await desk.api.post('/account/tokens', { name: 'a sign', scope: 'read' })).status, 201);
    await within(heard, 'an event that the sample prints');
    assertAnswered(stream);
    assert.match(printed.join('\n'), /^evt_\w+ token\.created$/);
  });
});

describe('the guides', () => {
  const blocks = blocksOf(guideText('sdk'));
  const programOf = (shown: readonly Block[]) => {
    const source = shown.filter(({ language }) => language !== 'sh').map(({ text }) => text);
    return source.join('\n').replaceAll('https://skerry.example', desk.world.url);
  };
  /** Pays what it asks for; what it began with servers is over when it looks. */
  const hurry = async (answer: Response) => {
    if (answer.url.endsWith('/billing/topup')) await pay((await answer.json()) as Deposit);
    await desk.world.advance(SWITCH_S);
  };

  it('lead to the first server with the SDK', IN_FULL, async (t) => {
    const printed = printedIn(t);
    await desk.run('first', programOf(blocksOf(guideText('getting-started'), 'With the SDK')), hurry);
    assert.match(printed.join('\n'), /^Send [\d.]+ LTC on Litecoin to \w+\nssh root@[\d.]+$/);
  });

  it('name the package as it is called', () => {
    const { name } = JSON.parse(
      readFileSync(new URL('../../packages/sdk/package.json', import.meta.url), 'utf8'),
    );
    assert.deepEqual(
      blocks.filter(({ language }) => language === 'sh').map(({ text }) => text),
      [`npm install ${name}\n`],
    );
  });

  it('to the SDK is one program that runs from its first line to its last', IN_FULL, async (t) => {
    const printed = printedIn(t);
    const secret = 'whsec_of_the_guide';
    process.env.WEBHOOK_SECRET = secret;
    const { POST } = (await desk.run('guide', programOf(blocks), hurry)) as {
      POST: (request: Request) => Promise<Response>;
    };
    const text = printed.join('\n');
    for (const line of [
      /^ssh root@[\d.]+$/m,
      /^web-1 running$/m,
      /^it is stopped$/m,
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
      const headers = { 'x-service-signature': `t=${t},v1=${signed(secret, t, body)}` };
      return POST(new Request('https://example.com/hooks', { method: 'POST', body, headers }));
    };
    const now = Math.floor(Date.now() / 1000);
    assert.equal((await post(now)).status, 204);
    assert.equal((await post(now - 400)).status, 400);
    assert.equal(printed.at(-1), 'server.running evt_1');
  });

  async function pay({ coin, deposit_address: address, deposit_amount: amount }: Deposit): Promise<void> {
    await desk.world.sandbox('payments', { coin, address, amount });
    await desk.world.sandbox('blocks', { coin, count: 6 });
  }
});
