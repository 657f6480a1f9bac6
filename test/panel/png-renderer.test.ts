import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fastify } from 'fastify';
import { encode } from 'uqr';
import { PngRenderer } from '../../src/http/panel/png-renderer.ts';
import { chartPng, qrPng, sendPng } from '../../src/http/panel/send-png.ts';
import { Failure } from '../../src/kernel/fail.ts';
import type { LineChart } from '../../src/panel/charts.ts';
import { qrCode } from '../../src/panel/qr.ts';
import { readPng } from '../support/png-pixels.ts';

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

const squareSvg = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0,0h8v8h-8z" fill="${colour}"/></svg>`;

describe('pictures', () => {
  it('a chart is as large as asked, drawn on nothing, with letters', async () => {
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

  it('a QR code has every module of its matrix, whole, in a white frame of four', async () => {
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

  it('a text that no payment has is refused a QR code', () => {
    assert.throws(() => qrCode('x'.repeat(601)), /601 bytes, at most 600/);
  });

  it('are sent as what they are, for whoever asked and for a minute', async () => {
    const app = fastify();
    app.get('/', async (_request, reply) => sendPng(reply, await qrPng('tron:T')));
    const answer = await app.inject('/');
    await app.close();
    assert.deepEqual(answer.rawPayload, await qrPng('tron:T'));
    const { 'content-type': type, 'cache-control': cache, 'x-content-type-options': sniff } = answer.headers;
    assert.deepEqual([type, cache, sniff], ['image/png', 'private, max-age=60', 'nosniff']);
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
  });
});

describe('the painter', () => {
  it('draws once what is asked for at once or again', async () => {
    const painter = new PngRenderer();
    const [one, other] = await Promise.all([painter.png(squareSvg('#123')), painter.png(squareSvg('#123'))]);
    assert.equal(one, other);
    assert.equal(await painter.png(squareSvg('#123')), one);
    assert.equal(painter.stats.drawn, 1);
    assert.deepEqual(readPng(one).at(3, 3), [0x11, 0x22, 0x33, 255]);
  });

  it('keeps so many pictures and so many bytes, and forgets what was used longest ago', async () => {
    const painter = new PngRenderer({ pictures: 2 });
    for (const colour of ['#111', '#222', '#111', '#333', '#111']) await painter.png(squareSvg(colour));
    assert.deepEqual([painter.stats.pictures, painter.stats.drawn], [2, 3]);
    const { length } = await painter.png(squareSvg('#111'));
    const tight = new PngRenderer({ bytes: length * 1.5 });
    for (const colour of ['#111', '#222']) await tight.png(squareSvg(colour));
    assert.equal(tight.stats.pictures, 1);
    assert.ok(tight.stats.bytes <= length * 1.5);
  });

  it('refuses when too many wait, and goes on after what cannot be drawn', async () => {
    const painter = new PngRenderer({ waiting: 1 });
    const broken = assert.rejects(painter.png('no picture'), { message: 'a picture could not be drawn' });
    const waits = painter.png(squareSvg('#111'));
    await assert.rejects(
      painter.png(squareSvg('#222')),
      (error) => error instanceof Failure && error.code === 'maintenance',
    );
    await broken;
    assert.equal(readPng(await waits).width, 8);
  });

  it('draws a QR code before all charts, and of one customer holds only so many of these', async () => {
    const painter = new PngRenderer({ waiting: 4, waitingOfOne: 2 });
    const drawn: string[] = [];
    const draw = async (name: string, colour: string, customerId?: string): Promise<void> => {
      await painter.png(squareSvg(colour), customerId === undefined ? {} : { customerId });
      drawn.push(name);
    };
    // The first one is drawn at once, and waits no more.
    const all = ['#111', '#222', '#333'].map((colour) => draw('his', colour, 'him'));
    await assert.rejects(
      draw('his', '#444', 'him'),
      (error) =>
        error instanceof Failure && error.code === 'rate_limited' && error.extras.retry_after_s === 5,
    );
    all.push(draw('hers', '#555', 'her'), draw('code', '#666'));
    await Promise.all(all);
    assert.deepEqual(drawn, ['his', 'code', 'his', 'his', 'hers']);
  });
});
