import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fastify } from 'fastify';
import { encode } from 'uqr';
import { chartPng, PngRenderer, qrPng, sendPng } from '../../../src/http/panel/png-renderer.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import type { LineChart } from '../../../src/panel/charts/plot.ts';
import { qrCode } from '../../../src/panel/money/qr.ts';
import { readPng } from '../../support/png-pixels.ts';

const CHART: LineChart = {
  title: 'Memory',
  unit: 'mebibytes',
  series: [
    {
      name: 'Memory',
      points: [
        [1_772_755_200, 512],
        [1_772_758_800, 700],
        [1_772_762_400, 600],
      ],
    },
  ],
  startS: 1_772_755_200,
  endS: 1_772_766_000,
  stepS: 3_600,
  width: 400,
  height: 160,
  theme: 'dark',
};
const PAYMENTS = [
  'bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?amount=0.00123456',
  `monero:8${'Bc4'.repeat(31)}x?tx_amount=0.123456789012`,
  'ethereum:0x00000000219ab540356cBB839Cbe05303d7705Fa@1?value=2.014e18',
];

const squareSvg = (color: string) =>
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">' +
  `<path d="M0,0h8v8h-8z" fill="${color}"/></svg>`;

describe('pictures', () => {
  it('a chart has the requested size, a transparent background, and text', async () => {
    const { width, height, at } = readPng(await chartPng(CHART, { customerId: 'me' }));
    assert.deepEqual([width, height], [400, 160]);
    assert.equal(at(399, 159)[3], 0);
    const title = Array.from(
      { length: 60 * 16 },
      (_, index) => at(index % 60, Math.floor(index / 60))[3] ?? 0,
    );
    assert.ok(title.filter((opacity) => opacity > 128).length > 100);
    const fine = readPng(await chartPng(CHART, { scale: 2, customerId: 'me' }));
    assert.deepEqual([fine.width, fine.height], [800, 320]);
  });

  it('a QR code shows every module at a whole number of pixels, in a white frame of four', async () => {
    for (const text of PAYMENTS) {
      const { width, height, at } = readPng(await qrPng(text));
      const { sidePx } = qrCode(text);
      const { data, size } = encode(text, { ecc: 'M', border: 0 });
      const modulePx = sidePx / (size + 8);
      assert.deepEqual([width, height, Number.isInteger(modulePx)], [sidePx, sidePx, true]);
      assert.ok(sidePx >= 200 && sidePx <= 320);
      for (let y = 0; y < sidePx; y++) {
        for (let x = 0; x < sidePx; x++) {
          const dark = data[Math.floor(y / modulePx) - 4]?.[Math.floor(x / modulePx) - 4] === true;
          if (at(x, y)[0] !== (dark ? 0 : 255)) assert.fail(`pixel ${x},${y} of ${text}`);
        }
      }
    }
  });

  it('a text that is too long for a payment gets no QR code', () => {
    assert.throws(() => qrCode('x'.repeat(601)), /601 bytes; at most 600/);
  });

  it('a picture is sent as PNG, cached privately for a minute', async () => {
    const app = fastify();
    app.get('/', async (_request, reply) => sendPng(reply, { png: await qrPng('tron:T') }));
    const response = await app.inject('/');
    await app.close();
    assert.deepEqual(response.rawPayload, await qrPng('tron:T'));
    const {
      'content-type': type,
      'cache-control': cache,
      'x-content-type-options': sniff,
    } = response.headers;
    assert.deepEqual([type, cache, sniff], ['image/png', 'private, max-age=60', 'nosniff']);
    assert.equal(response.headers['cross-origin-resource-policy'], 'same-origin');
  });
});

describe('the PNG renderer', () => {
  it('the renderer draws an identical picture once', async () => {
    const renderer = new PngRenderer();
    const [one, other] = await Promise.all([
      renderer.png(squareSvg('#123')),
      renderer.png(squareSvg('#123')),
    ]);
    assert.equal(one, other);
    assert.equal(await renderer.png(squareSvg('#123')), one);
    assert.equal(renderer.stats.drawn, 1);
    assert.deepEqual(readPng(one).at(3, 3), [0x11, 0x22, 0x33, 255]);
  });

  it('the renderer’s cache is limited by pictures and bytes and evicts the least recently used', async () => {
    const renderer = new PngRenderer({ pictures: 2 });
    for (const color of ['#111', '#222', '#111', '#333', '#111']) await renderer.png(squareSvg(color));
    assert.deepEqual([renderer.stats.pictures, renderer.stats.drawn], [2, 3]);
    const { length } = await renderer.png(squareSvg('#111'));
    const tight = new PngRenderer({ bytes: length * 1.5 });
    for (const color of ['#111', '#222']) await tight.png(squareSvg(color));
    assert.equal(tight.stats.pictures, 1);
    assert.ok(tight.stats.bytes <= length * 1.5);
  });

  it('the renderer rejects pictures when its queue is full, and continues after an invalid one', async () => {
    const renderer = new PngRenderer({ waiting: 1 });
    const broken = assert.rejects(renderer.png('no picture'), { message: 'a picture could not be drawn' });
    const waits = renderer.png(squareSvg('#111'));
    await assert.rejects(
      renderer.png(squareSvg('#222')),
      (error) => error instanceof Failure && error.code === 'maintenance',
    );
    await broken;
    assert.equal(readPng(await waits).width, 8);
  });

  it('the renderer draws QR codes before charts and limits the queued charts of a customer', async () => {
    const renderer = new PngRenderer({ waiting: 4, waitingOfOne: 2 });
    const drawn: string[] = [];
    const draw = async (name: string, color: string, customerId?: string): Promise<void> => {
      await renderer.png(squareSvg(color), customerId === undefined ? {} : { customerId });
      drawn.push(name);
    };
    // The first picture is drawn immediately and does not count as queued.
    const all = ['#111', '#222', '#333'].map((color) => draw('ada', color, 'ada'));
    await assert.rejects(
      draw('ada', '#444', 'ada'),
      (error) =>
        error instanceof Failure && error.code === 'rate_limited' && error.extras.retry_after_s === 5,
    );
    all.push(draw('bob', '#555', 'bob'), draw('code', '#666'));
    await Promise.all(all);
    assert.deepEqual(drawn, ['ada', 'code', 'ada', 'ada', 'bob']);
  });
});
