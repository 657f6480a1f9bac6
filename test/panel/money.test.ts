import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { turn } from '../../src/domain/switches/switch.ts';
import { PanelClient, problemOf, textOf } from '../support/panel-client.ts';
import type { SessionClient } from '../support/session-client.ts';
import { startWorld, type World } from '../support/world.ts';

interface Customer {
  readonly session: SessionClient;
  readonly panel: PanelClient;
}

describe('money in the panel', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_SITE_NAME: 'Rock & Sea', SKERRY_QUOTAS: 'openTopups=3' });
  });
  after(() => world.close());

  async function customer(): Promise<Customer> {
    const session = await world.customer();
    return { session, panel: PanelClient.over(world.url, { cookie: session.cookie }) };
  }

  /** Makes a top-up by the page, and says where it is and what it asks for. */
  async function order(panel: PanelClient, amount: string, coin = 'LTC') {
    const made = await panel.submit(await panel.get('/topup'), 'create', { coin, amount });
    const path = made.location?.split('?')[0] ?? '';
    assert.match(path, /^\/billing\/topups\/top_\w{26}$/, made.text);
    const page = await panel.get(path);
    const [, units = '', address = ''] = /data-copy>([^<]+)<.*?data-copy>([^<]+)</s.exec(page.text) ?? [];
    return { path, page, units, address, coin };
  }

  async function pay(invoice: { readonly coin: string; readonly address: string }, amount: string) {
    await world.sandbox('payments', { coin: invoice.coin, address: invoice.address, amount });
    await world.settle();
  }
  async function mine(coin: string, count = 6) {
    await world.sandbox('blocks', { coin, count });
    await world.settle();
  }
  async function seen(panel: PanelClient, path: string): Promise<string> {
    const { status, text } = await panel.get(path);
    assert.equal(status, 200);
    return textOf(text);
  }

  describe('the page to top up', () => {
    it('says what comes of an amount before anything is made, without scripts', async () => {
      const { panel } = await customer();
      const empty = await panel.get('/topup');
      assert.match(textOf(empty.text), /Tether \(USDT\) on Tron \(TRC-20\)/);
      assert.match(textOf(empty.text), /from \$1,000\.00 \$700\.00/);
      // The button that shows it is of the same form, and leads to an address that holds no secret of it.
      assert.match(empty.text, /<button class="plain" formaction="\/topup\/offer">/);
      const token = /name="_token" value="(\w+)"/.exec(empty.text)?.[1] ?? '';
      const shown = await panel.post('/topup/offer', [
        ...[['_token', token] as const, ['_form', 'create'] as const, ['_once', 'x'] as const],
        ...[['coin', 'USDTTRC'] as const, ['amount', ' 250 '] as const],
      ]);
      assert.deepEqual([shown.status, shown.location], [303, '/topup?coin=USDTTRC&amount=250#total']);
      const text = await seen(panel, '/topup?coin=USDTTRC&amount=250');
      assert.match(text, /You pay 250 USDT , at \$1 for 1 USDT/);
      assert.match(text, /Bonus \$100\.00 Balance after \$350\.00/);
      assert.match(text, /kept for 60 minutes once you ask for an address/);
      assert.match(await seen(panel, '/billing'), /No top-ups yet/);
    });

    it('takes the amount that is missing, never less than the least, and says why', async () => {
      const { panel } = await customer();
      const { text } = await panel.get('/topup?amount=12.34');
      assert.match(text, /name="amount" type="text" value="30\.00"/);
      assert.match(textOf(text), /You asked for \$12\.34\. The least that can be topped up is \$30\.00/);
      assert.match((await panel.get('/topup?amount=77.7')).text, /value="77\.7"/);
    });

    it('takes no hostile amount, and gives each back as text', async () => {
      const { panel } = await customer();
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
      assert.match(problemOf(low.text, 'amount') ?? '', /At least 30/);
      const none = await panel.submit(page, 'create', { amount: '50' });
      assert.ok(problemOf(none.text, 'coin'));
      const unknown = await panel.submit(page, 'create', { coin: 'DOGE', amount: '50' });
      assert.ok(problemOf(unknown.text, 'coin'));
      assert.match(await seen(panel, '/billing'), /No top-ups yet/);
    });

    it('makes one top-up of a double click, and stops at the open ones that there may be', async () => {
      const { panel } = await customer();
      const page = await panel.get('/topup');
      const click = () => panel.submit(page, 'create', { coin: 'XMR', amount: '30' });
      const clicks = [...(await Promise.all([click(), click()])), await click()];
      assert.equal(new Set(clicks.map(({ location }) => location)).size, 1);
      const rows = () => seen(panel, '/billing').then((text) => text.match(/\$30\.00 in XMR/g)?.length);
      assert.equal(await rows(), 1);
      for (let n = 1; n < 3; n++) await order(panel, '30', 'XMR');
      const refused = await panel.submit(await panel.get('/topup'), 'create', { coin: 'XMR', amount: '30' });
      assert.equal(refused.status, 422);
      assert.match(textOf(refused.text), /at most 3 open top-ups/);
      assert.match(refused.text, /value="XMR" checked/);
    });
  });

  describe('the page of a payment', () => {
    it('leads from asking to the credit by loading it again', async () => {
      const { panel, session } = await customer();
      const invoice = await order(panel, '100');
      assert.equal(invoice.units, '1.25');
      assert.equal(invoice.page.headers.get('refresh'), '15');
      const asked = textOf(invoice.page.text);
      assert.match(
        asked,
        /Send only Litecoin \(LTC\) on Litecoin\. Another coin, or the same one on another network, is lost/,
      );
      assert.match(asked, /kept until .* UTC : (59|60) minutes left/);
      assert.match(invoice.page.text, /href="\w+:\w+\?amount=1\.25">Open in a wallet/);
      assert.match(asked, /\/sandbox\/payments --json '\{"coin":"LTC","address":"\w+","amount":"1\.25"\}'/);
      await pay(invoice, invoice.units);
      assert.match(
        await seen(panel, invoice.path),
        /1\.25 LTC arrived, worth \$100\.00\. 0 of 2 confirmations\./,
      );
      await mine('LTC', 1);
      assert.match(await seen(panel, invoice.path), /1 of 2 confirmations\./);
      await mine('LTC', 1);
      const done = await panel.get(invoice.path);
      assert.equal(done.headers.get('refresh'), null);
      assert.match(textOf(done.text), /\$100\.00 are on your balance, and a bonus of \$30\.00/);
      assert.equal((await session.get('/me.php')).body.balance, 130);
      assert.match(await seen(panel, '/billing'), /\$100\.00 in LTC Litecoin credited \$130\.00/);
    });

    it('is found by the reference of the session surface, by its owner only', async () => {
      const { panel, session } = await customer();
      const made = await session.post('/topup-api.php', { action: 'create', amount: 50, coin: 'USDTTRC' });
      const ref = String(made.body.order_ref);
      const { text } = await panel.get(`/topup?ref=${ref}`);
      assert.match(textOf(text), /Send only Tether \(USDT\) on Tron \(TRC-20\)/);
      const other = await customer();
      assert.equal((await other.panel.get(`/topup?ref=${ref}`)).status, 404);
      assert.equal((await PanelClient.over(world.url).get(`/topup?ref=${ref}`)).status, 303);
      const path = /src="(\/billing\/topups\/[^"]+)\/qr\.png"/.exec(text)?.[1] ?? '';
      const picture = await fetch(`${world.url}${path}/qr.png`, {
        headers: { cookie: `PHPSESSID=${session.cookie}` },
      });
      assert.equal(picture.headers.get('content-type'), 'image/png');
      const bytes = Buffer.from(await picture.arrayBuffer());
      assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
      const [, width] = /width="(\d+)" height="\d+" alt/.exec(text) ?? [];
      assert.equal(bytes.readUInt32BE(16), Number(width));
      for (const page of ['', '/qr.png']) {
        assert.equal((await other.panel.get(`${path}${page}`)).status, 404);
        const nobody = await PanelClient.over(world.url).get(`${path}${page}`);
        assert.equal(nobody.status, page === '' ? 303 : 404);
      }
    });

    it('says what is missing of a short payment, takes the rest at the same rate, and all that is more', async () => {
      const { panel } = await customer();
      const invoice = await order(panel, '100');
      await pay(invoice, '0.75');
      await mine('LTC');
      const short = await seen(panel, invoice.path);
      assert.match(short, /\$60\.00 are on your balance\./);
      assert.match(short, /\$40\.00 less arrived than was asked/);
      assert.match(short, /send this amount in LTC 0\.5 to the same address/);
      await world.sandbox('rates', { coin: 'LTC', usd: '40' });
      await pay(invoice, '0.75');
      await mine('LTC');
      await world.sandbox('rates', { coin: 'LTC', usd: '80' });
      const over = await seen(panel, invoice.path);
      assert.match(over, /\$120\.00 are on your balance, and a bonus of \$30\.00/);
      assert.match(over, /You paid more than was asked: all of it counts, \$20\.00 more/);
      assert.doesNotMatch(over, /less arrived/);
    });

    it('is cancelled once, while it waits; what is paid then counts all the same, late at the rate of its block', async () => {
      const { panel } = await customer();
      const invoice = await order(panel, '50');
      const twice = await Promise.all([1, 2].map(() => panel.submit(invoice.page, 'cancel')));
      for (const { location } of twice) assert.equal(location, `${invoice.path}?done=topup_cancelled`);
      const cancelled = await panel.get(invoice.path);
      assert.match(textOf(cancelled.text), /You cancelled this top-up\. Do not pay it any more/);
      assert.ok(!/qr\.png|Open in a wallet|value="cancel"/.test(cancelled.text));
      const again = await panel.submit(
        { ...invoice.page, text: invoice.page.text.replace(/(name="_once" value=")/g, '$1other') },
        'cancel',
      );
      assert.match(textOf(again.text), /Only an invoice that still waits for its payment can be cancelled/);
      const expired = await order(panel, '60');
      await world.advance(5 * 3600);
      assert.match(await seen(panel, expired.path), /The time for this top-up is over/);
      await world.sandbox('rates', { coin: 'LTC', usd: '100' });
      for (const late of [invoice, expired]) await pay(late, late.units);
      await mine('LTC');
      await world.sandbox('rates', { coin: 'LTC', usd: '80' });
      for (const [path, credited] of [
        [invoice.path, '$62.50'],
        [expired.path, '$75.00'],
      ] as const) {
        const text = await seen(panel, path);
        assert.ok(text.includes(`${credited} are on your balance`), text);
        assert.match(text, /It counts at the rate of that moment/);
        assert.match(text, /\$100 \(late\)/);
      }
    });

    it('tells of a credit that was taken back with its block', async () => {
      const { panel } = await customer();
      const invoice = await order(panel, '40');
      await pay(invoice, invoice.units);
      await mine('LTC', 2);
      assert.match(await seen(panel, invoice.path), /\$40\.00 are on your balance/);
      await world.sandbox('reorgs', { coin: 'LTC', depth: 3, drop: true });
      await world.settle();
      assert.match(await seen(panel, invoice.path), /its credit was taken back/);
    });

    it('is an error with refund instructions while credits are held, like the billing tab', async () => {
      const { panel } = await customer();
      await turn(world.opened.service, 'topup-credit', false);
      const invoice = await order(panel, '40');
      await pay(invoice, invoice.units);
      await mine('LTC');
      await turn(world.opened.service, 'topup-credit', true);
      for (const path of [invoice.path, '/billing']) {
        const { text } = await panel.get(path);
        assert.match(text, /<span class="state bad">error<\/span>/);
        assert.match(
          textOf(text),
          /not credited: credits are held .* address of yours on Litecoin, and say whether you want it credited later or refunded/,
        );
      }
      assert.equal((await panel.get(invoice.path)).headers.get('refresh'), null);
      const id = invoice.path.split('/').at(-1);
      assert.equal((await panel.get(`/billing/receipts/${id}`)).status, 404);
    });
  });

  describe('billing', () => {
    const deploy = {
      product: 'vps',
      plan: 's1',
      region: 'par',
      os: 'debian',
      billing: 1,
      root_password: 'a root password',
    };
    const PRICE_CENTS = 505n;

    it('says what renews in its turn, how far the balance reaches, and what is missing', async () => {
      const { panel, session } = await customer();
      assert.match(await seen(panel, '/billing'), /Nothing renews in the next 30 days/);
      await world.opened.db.run(`update plans set price_cents_month = $1 where id = 's1'`, [PRICE_CENTS]);
      await world.give(session, PRICE_CENTS * 4n + 100n);
      const names: string[] = [];
      for (let n = 0; n < 3; n++) await session.post('/deploy-api.php', deploy);
      await world.settle();
      const { text } = await panel.get('/billing');
      for (const [, name = ''] of text.matchAll(/<a href="\/servers\/srv_\w+">([^<]+)</g)) names.push(name);
      assert.equal(names.length, 3);
      const plain = textOf(text);
      const row = (name: string) =>
        new RegExp(`${name} \\S+ \\S+ UTC 1 month \\$5\\.05 on (renews|would be suspended) (\\$\\S+)`)
          .exec(plain)
          ?.slice(1);
      assert.deepEqual(names.map(row), [
        ['renews', '$1.00'],
        ['would be suspended', '$1.00'],
        ['would be suspended', '$1.00'],
      ]);
      assert.match(plain, /\$9\.10 are missing for all that renews in the next 30 days/);
      assert.match(text, /href="\/topup\?amount=9\.10"/);
      await world.opened.db.run('update servers set auto_renew = false where name = $1', [names[1]]);
      const ahead = await seen(panel, '/billing?days=90');
      assert.match(ahead, new RegExp(`${names[1]} \\S+ \\S+ UTC 1 month \\$5\\.05 off ends, does not renew`));
      assert.match(ahead, /Running servers 3/);
    });

    it('has a ledger of one kind or all, a receipt of each entry, and months that add up', async () => {
      const { panel, session } = await customer();
      const invoice = await order(panel, '100');
      await pay(invoice, invoice.units);
      await mine('LTC');
      await session.post('/deploy-api.php', deploy);
      const all = textOf((await panel.get('/billing/ledger')).text);
      assert.match(all, /Charge s1 in par, 1 month \S+ −\$5\.05 \$124\.95/);
      assert.match(all, /Bonus Top-up bonus the top-up \+\$30\.00/);
      const charges = await panel.get('/billing/ledger?type=charge');
      assert.doesNotMatch(textOf(charges.text), /Top-up bonus/);
      const receipt = /href="(\/billing\/receipts\/led_\w+)"/.exec(charges.text)?.[1] ?? '';
      const charged = await seen(panel, receipt);
      assert.match(charged, new RegExp(`From Rock & Sea For ${session.email} Date`));
      assert.match(
        charged,
        /What s1 in par, 1 month .* Paid from the balance \$5\.05 Balance after \$124\.95 Entry led_/,
      );
      const topup = `/billing/receipts/${invoice.path.split('/').at(-1)}`;
      const paid = await seen(panel, topup);
      assert.match(paid, /Credited \$100\.00 Bonus \$30\.00 In all \$130\.00/);
      assert.match(paid, /[0-9a-f]{64} \S+ \S+ UTC 1\.25 LTC \$80 \$100\.00/);
      assert.equal(paid.match(/led_\w{26}/g)?.length, 2);
      const other = await customer();
      for (const path of [receipt, topup, '/billing/receipts/led_x', '/billing/receipts/srv_x'])
        assert.equal((await other.panel.get(path)).status, 404);
      const month = await seen(panel, '/billing/statement?month=nonsense&type=charge');
      assert.match(
        month,
        /Balance at its begin \$0\.00 Came in \+\$130\.00 Went out −\$5\.05 Balance now \$124\.95/,
      );
      assert.match(month, /Charge s1 in par, 1 month .* −\$5\.05/);
      const past = await seen(panel, '/billing/statement?month=2020-02');
      assert.match(
        past,
        /Statement, February 2020 .* Balance at its end \$0\.00 Nothing was booked in this month/,
      );
    });

    it('pages a long month without losing an entry', async () => {
      const { panel, session } = await customer();
      for (let n = 0; n < 101; n++) await world.give(session, 1n);
      const first = await panel.get('/billing/statement');
      assert.equal(first.text.match(/a gift/g)?.length, 100);
      const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
      assert.match(next, /^\/billing\/statement\?month=\d{4}-\d\d&cursor=/);
      const second = await panel.get(next);
      assert.equal(second.text.match(/a gift/g)?.length, 1);
      assert.match(textOf(second.text), /Came in \+\$1\.01/);
    });
  });
});
