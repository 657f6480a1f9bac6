import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readStatus } from '../../../src/domain/health/status.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { MarketRates } from '../../../src/drivers/rates/market.ts';
import { createQuoteStore, saveQuotes } from '../../../src/store/topups/quotes.ts';
import { PanelClient, problemOf, refreshOf, textOf } from '../../support/panel-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { createPayer, mineBlocks, orderTopup, payInvoice, readPageText } from '../support/payer.ts';

describe('money in the panel', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_QUOTAS: 'openTopups=3' });
  });
  after(() => world.close());

  describe('the top-up page', () => {
    it('the top-up page previews the result before anything is created, without scripts', async () => {
      const { panel } = await createPayer(world);
      const empty = await panel.get('/topup');
      assert.match(textOf(empty.text), /Tether \(USDT\) on Tron \(TRC-20\)/);
      assert.match(textOf(empty.text), /\$1,000 \+ \$700 bonus/);
      // The preview button submits the same form, and its result's URL contains no secret.
      assert.match(empty.text, /<button class="plain" formaction="\/topup\/offer" formnovalidate>Update</);
      const token = /name="_token" value="(\w+)"/.exec(empty.text)?.[1] ?? '';
      const shown = await panel.post('/topup/offer', [
        ['_token', token] as const,
        ['_form', 'create'] as const,
        ['_once', 'x'] as const,
        ['coin', 'USDTTRC'] as const,
        ['amount', ' 250 '] as const,
      ]);
      assert.deepEqual([shown.status, shown.location], [303, '/topup?coin=USDTTRC&amount=250#total']);
      const text = await readPageText(panel, '/topup?coin=USDTTRC&amount=250');
      assert.match(text, /You pay 250 USDT at \$1\.00 per USDT/);
      assert.match(text, /Bonus \$100\.00 Credited \$350\.00 Balance after \$350\.00/);
      assert.match(text, /lock it for 60 minutes when you continue to payment/);
      assert.match(await readPageText(panel, '/billing'), /No top-ups yet/);
    });

    it('the top-up page raises a requested amount to the minimum and says so', async () => {
      const { panel } = await createPayer(world);
      const { text } = await panel.get('/topup?amount=12.34');
      assert.match(text, /name="amount" type="text" value="30\.00"/);
      assert.match(textOf(text), /You need \$12\.34\. The minimum top-up is \$30\.00/);
      assert.match((await panel.get('/topup?amount=77.7')).text, /value="77\.7"/);
    });

    it('a coin whose exchange rate is not known yet says so on every surface', async () => {
      const { db, clock, service } = world.opened;
      const { rates } = service;
      const rules = { maxAgeS: 300, sourcesMin: 1, maxSpreadPercent: 3 };
      const now = clock.now();
      await saveQuotes(db, [{ coin: 'BTC', source: 'kraken', usd: '60000', quotedAt: now }]);
      const market = new MarketRates({
        book: createQuoteStore(db),
        clock,
        market: { sources: ['kraken'], rules },
      });
      const message =
        'The exchange rate of ETH is not known yet. Try again in a minute, or choose another coin.';
      const { session, panel } = await createPayer(world);
      const api = V1Client.forUrl(world.url, await createApiToken(session, 'billing'));
      Object.assign(service, { rates: market });
      try {
        const rest = await api.post('/billing/topup', { coin: 'ETH', amount_usd: 50 });
        assert.deepEqual([rest.status, rest.body.error], [422, { ...Object(rest.body.error), message }]);
        const order = { action: 'create', amount: 50, coin: 'ETH' };
        const form = (await session.post('/topup-api.php', order)).body;
        assert.deepEqual([form.ok, form.error, form.msg], [false, 'unavailable', message]);
        const page = await panel.get('/topup?coin=ETH&amount=50');
        assert.ok(textOf(page.text).includes(`on Ethereum Temporarily unavailable. ${message}`));
        assert.equal(textOf(page.text).match(/Temporarily unavailable\./g)?.length, 7);
        assert.match(await readPageText(panel, '/status'), /Bitcoin \(BTC\) Bitcoin accepted/);
        assert.match(await readPageText(panel, '/status'), /Ethereum no new top-ups: no exchange rate/);
        const refused = await panel.submit(page, 'create', { coin: 'ETH', amount: '50' });
        assert.equal(problemOf(refused.text, 'coin'), message);
      } finally {
        Object.assign(service, { rates });
      }
    });

    it('invalid amounts are rejected and escaped', async () => {
      const { panel } = await createPayer(world);
      for (const amount of [
        '<script>',
        '1e3',
        '-5',
        '0x20',
        '50.005',
        '10000.01',
        '99999999999999999999',
        'NaN',
        '٣٠',
      ]) {
        const { status, text } = await panel.get(`/topup?coin=LTC&amount=${encodeURIComponent(amount)}`);
        assert.equal(status, 200);
        assert.ok(!text.includes('<script>') && !/<dt>You pay/.test(text), amount);
        const refused = await panel.submit(await panel.get('/topup'), 'create', { coin: 'LTC', amount });
        assert.equal(refused.status, 400, amount);
        assert.ok(problemOf(refused.text, 'amount'), amount);
      }
      const page = await panel.get('/topup');
      const low = await panel.submit(page, 'create', { coin: 'LTC', amount: '29.99' });
      assert.match(problemOf(low.text, 'amount') ?? '', /at least \$30\.00/);
      const none = await panel.submit(page, 'create', { amount: '50' });
      assert.ok(problemOf(none.text, 'coin'));
      const unknown = await panel.submit(page, 'create', { coin: 'DOGE', amount: '50' });
      assert.ok(problemOf(unknown.text, 'coin'));
      assert.match(await readPageText(panel, '/billing'), /No top-ups yet/);
    });

    it('a double click creates one top-up, and open top-ups are limited', async () => {
      const { panel } = await createPayer(world);
      const page = await panel.get('/topup');
      const click = () => panel.submit(page, 'create', { coin: 'XMR', amount: '30' });
      const clicks = [...(await Promise.all([click(), click()])), await click()];
      assert.equal(new Set(clicks.map(({ location }) => location)).size, 1);
      const rows = async () => (await readPageText(panel, '/billing')).match(/\$30\.00 in XMR/g)?.length;
      assert.equal(await rows(), 1);
      for (let n = 1; n < 3; n++) await orderTopup(panel, '30', 'XMR');
      const refused = await panel.submit(await panel.get('/topup'), 'create', { coin: 'XMR', amount: '30' });
      assert.equal(refused.status, 422);
      assert.match(textOf(refused.text), /at most 3 open top-ups/);
      assert.match(refused.text, /value="XMR" checked/);
    });
  });

  describe('the payment page', () => {
    it('the payment page follows a payment from request to credit', async () => {
      const { panel, session } = await createPayer(world);
      const invoice = await orderTopup(panel, '100');
      assert.equal(invoice.units, '1.25');
      assert.equal(refreshOf(invoice.page.text), `3; url=${invoice.path}`);
      const asked = textOf(invoice.page.text);
      assert.match(
        asked,
        /Send only Litecoin \(LTC\) on the Litecoin network\. Other coins, and the same coin .* will be lost/,
      );
      assert.match(asked, /locked until .* UTC \( (59|60) minutes left/);
      assert.match(invoice.page.text, /href="\w+:\w+\?amount=1\.25">Open in a wallet/);
      assert.match(asked, /\/sandbox\/payments --json '\{"coin":"LTC","address":"\w+","amount":"1\.25"\}'/);
      await payInvoice(world, invoice, invoice.units);
      assert.match(
        await readPageText(panel, invoice.path),
        /We received 1\.25 LTC, worth \$100\.00\. 0 of 2 confirmations\./,
      );
      await mineBlocks(world, 'LTC', 1);
      assert.match(await readPageText(panel, invoice.path), /1 of 2 confirmations\./);
      await mineBlocks(world, 'LTC', 1);
      const done = await panel.get(invoice.path);
      assert.equal(refreshOf(done.text), null);
      assert.match(textOf(done.text), /Confirmations confirmed \(2 required\)/);
      assert.match(textOf(done.text), /\$100\.00 was credited to your balance, plus a bonus of \$30\.00/);
      assert.equal((await session.get('/me.php')).body.balance, 130);
      assert.match(await readPageText(panel, '/billing'), /\$100\.00 in LTC Litecoin credited \$130\.00/);
    });

    it('the session API’s reference opens the payment page, for its owner only', async () => {
      const { panel, session } = await createPayer(world);
      const made = await session.post('/topup-api.php', { action: 'create', amount: 50, coin: 'USDTTRC' });
      const ref = String(made.body.order_ref);
      const { text } = await panel.get(`/topup?ref=${ref}`);
      assert.match(textOf(text), /Send only Tether \(USDT\) on the Tron \(TRC-20\)/);
      const other = await createPayer(world);
      assert.equal((await other.panel.get(`/topup?ref=${ref}`)).status, 404);
      assert.equal((await PanelClient.forUrl(world.url).get(`/topup?ref=${ref}`)).status, 303);
      const path = /src="(\/billing\/topups\/[^"]+)\/qr\.png"/.exec(text)?.[1] ?? '';
      const picture = await fetch(`${world.url}${path}/qr.png`, {
        headers: { cookie: `PHPSESSID=${session.cookie}` },
      });
      assert.equal(picture.headers.get('content-type'), 'image/png');
      const bytes = Buffer.from(await picture.arrayBuffer());
      assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
      const [, width] = /width="(\d+)" height="\d+"\s+alt/.exec(text) ?? [];
      assert.equal(bytes.readUInt32BE(16), Number(width));
      for (const page of ['', '/qr.png']) {
        assert.equal((await other.panel.get(`${path}${page}`)).status, 404);
        const visitor = await PanelClient.forUrl(world.url).get(`${path}${page}`);
        assert.equal(visitor.status, page === '' ? 303 : 404);
      }
    });

    it('a short payment can be completed at the same rate, and overpayment is credited', async () => {
      const { panel } = await createPayer(world);
      const invoice = await orderTopup(panel, '100');
      await payInvoice(world, invoice, '0.75');
      await mineBlocks(world, 'LTC');
      const short = await readPageText(panel, invoice.path);
      assert.match(short, /\$60\.00 was credited to your balance\./);
      assert.match(short, /Your payment is \$40\.00 short/);
      assert.match(short, /send this amount of LTC: 0\.5 To the same address:/);
      await world.sandbox('rates', { coin: 'LTC', usd: '40' });
      await payInvoice(world, invoice, '0.75');
      await mineBlocks(world, 'LTC');
      await world.sandbox('rates', { coin: 'LTC', usd: '80' });
      const over = await readPageText(panel, invoice.path);
      assert.match(over, /\$120\.00 was credited to your balance, plus a bonus of \$30\.00/);
      assert.match(over, /You paid \$20\.00 more than requested\. We credited all of it/);
      assert.doesNotMatch(over, /Your payment is/);
    });

    it('a canceled or expired top-up still credits a late payment, at the rate of its block', async () => {
      const { panel } = await createPayer(world);
      const invoice = await orderTopup(panel, '50');
      const twice = await Promise.all([1, 2].map(() => panel.submit(invoice.page, 'cancel')));
      for (const { location } of twice) assert.equal(location, `${invoice.path}?done=topup_cancelled`);
      const cancelled = await panel.get(invoice.path);
      assert.match(textOf(cancelled.text), /You canceled this top-up\. Don’t send a payment for it/);
      assert.ok(!/qr\.png|Open in a wallet|value="cancel"/.test(cancelled.text));
      const again = await panel.submit(
        { ...invoice.page, text: invoice.page.text.replace(/(name="_once" value=")/g, '$1other') },
        'cancel',
      );
      assert.match(textOf(again.text), /Only an unpaid invoice can be canceled/);
      const expired = await orderTopup(panel, '60');
      await world.advance(5 * 3600);
      assert.match(await readPageText(panel, expired.path), /This top-up expired/);
      await world.sandbox('rates', { coin: 'LTC', usd: '100' });
      for (const late of [invoice, expired]) await payInvoice(world, late, late.units);
      await mineBlocks(world, 'LTC');
      await world.sandbox('rates', { coin: 'LTC', usd: '80' });
      for (const [path, credited] of [
        [invoice.path, '$62.50'],
        [expired.path, '$75.00'],
      ] as const) {
        const text = await readPageText(panel, path);
        assert.ok(text.includes(`${credited} was credited to your balance`), text);
        assert.match(text, /We credited it at the exchange rate at that time/);
        assert.match(text, /\$100\.00 \(late\)/);
      }
    });

    it('the payment page and the operator’s status show a reversed credit', async () => {
      const { panel } = await createPayer(world);
      const invoice = await orderTopup(panel, '40');
      await payInvoice(world, invoice, invoice.units);
      await mineBlocks(world, 'LTC', 2);
      assert.match(await readPageText(panel, invoice.path), /\$40\.00 was credited to your balance/);
      await world.sandbox('reorgs', { coin: 'LTC', depth: 3, drop: true });
      await world.settle();
      const text = await readPageText(panel, invoice.path);
      assert.match(text, /we took back \$40\.00 of its credit/);
      const findings = await readStatus(world.opened.service);
      const messages = findings.map(({ message }) => message).join('\n');
      assert.match(messages, /40\.00 USD taken back in the last 30 days, .*: top_/);
    });

    it('a withheld payment shows refund instructions on its page and under billing', async () => {
      const { panel } = await createPayer(world);
      await setSwitch(world.opened.service, 'topup-credit', false);
      const invoice = await orderTopup(panel, '40');
      await payInvoice(world, invoice, invoice.units);
      await mineBlocks(world, 'LTC');
      await setSwitch(world.opened.service, 'topup-credit', true);
      for (const path of [invoice.path, '/billing']) {
        const { text } = await panel.get(path);
        assert.match(text, /<span class="state bad">error<\/span>/);
        assert.match(
          textOf(text),
          /crediting was paused.* Tell us whether .* or refunded\. .* Litecoin network\./,
        );
      }
      assert.equal(refreshOf((await panel.get(invoice.path)).text), null);
      const id = invoice.path.split('/').at(-1);
      assert.equal((await panel.get(`/billing/receipts/${id}`)).status, 404);
    });
  });
});
