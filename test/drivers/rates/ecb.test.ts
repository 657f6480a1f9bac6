import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { EcbEuro } from '../../../src/drivers/rates/ecb.ts';
import { FeedError } from '../../../src/ports/rates.ts';
import { endless, StubFeeds, status, text, unresponsive } from './stub-feeds.ts';

const NEVER = new AbortController().signal;

let feeds: StubFeeds;
before(async () => {
  feeds = await StubFeeds.start();
});
after(() => feeds.close());
afterEach(() => {
  delete feeds.overrides.ecb;
});

const euro = (timeoutMs = 5_000) => new EcbEuro({ url: feeds.ecb, timeoutMs });
const cube = (usd: string, day = '2026-11-20') => `<Cube time='${day}'>${usd}</Cube>`;
const dollar = (rate: string) => `<Cube currency='USD' rate='${rate}'/>`;

async function faultOf(xml: string): Promise<string> {
  feeds.overrides.ecb = text(xml);
  const error = await euro()
    .read(NEVER)
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof FeedError, xml);
  return error.message;
}

test('the euro rate is read with its day, in either kind of quotes', async () => {
  feeds.euro = { day: '2026-11-20', usd: '1.0876' };
  const expected = { usd: '1.0876', at: new Date('2026-11-20T00:00:00Z') };
  assert.deepEqual(await euro().read(NEVER), expected);
  feeds.overrides.ecb = text(
    `<Cube><Cube time="2026-11-20">\n<Cube  currency="USD"\n rate="1.0876" /></Cube></Cube>`,
  );
  assert.deepEqual(await euro().read(NEVER), expected);
});

test('a response that is not the file of one day is rejected', async () => {
  const none = 'response has no dollar rate';
  assert.equal(await faultOf('<html>Maintenance</html>'), none);
  assert.equal(await faultOf(''), none);
  assert.equal(await faultOf(dollar('1.08')), none);
  assert.equal(await faultOf(cube(dollar('1.08')) + cube(dollar('1.09'), '2026-11-19')), none);
  assert.equal(await faultOf(cube(dollar('1.08') + dollar('1.08'))), none);
  assert.equal(await faultOf(cube(dollar('1.08'), '2026-02-30')), none);
  for (const rate of ['', 'x', '-1.08', '1,08', '1e0', '1.08.1', 'NaN', '1.123456789', '1234.5']) {
    assert.equal(await faultOf(cube(dollar(rate))), none, rate);
  }
});

test('an implausible rate and a rate from the future are rejected', async () => {
  for (const rate of ['0.0', '0.2', '3.1', '108.0']) {
    assert.equal(await faultOf(cube(dollar(rate))), 'dollar rate is out of range', rate);
  }
  const later = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  assert.equal(await faultOf(cube(dollar('1.08'), later)), 'rate is dated in the future');
});

test('a source that fails, redirects, is too slow, or never ends is reported as such', async () => {
  const message = async (timeoutMs?: number) =>
    await euro(timeoutMs)
      .read(NEVER)
      .catch((error: unknown) => (error instanceof FeedError ? error.message : error));
  feeds.overrides.ecb = status(500);
  assert.equal(await message(), 'responded with HTTP 500');
  feeds.overrides.ecb = status(301, { location: '/ecb' });
  assert.equal(await message(), 'responded with HTTP 301');
  feeds.overrides.ecb = endless;
  assert.equal(await message(), 'response is too large');
  feeds.overrides.ecb = unresponsive;
  assert.equal(await message(60), 'request timed out');
});
