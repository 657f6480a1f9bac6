import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { DAY_S } from '../support/estate.ts';
import { createPayer, mineBlocks, orderTopup, payInvoice, readPageText } from '../support/payer.ts';

describe('billing in the panel', () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_SITE_NAME: 'Rock & Sea' });
  });
  after(() => world.close());

  const deploy = {
    product: 'vps',
    plan: 's1',
    region: 'par',
    os: 'debian',
    billing: 1,
    root_password: 'a root password',
  };
  const PRICE_CENTS = 505n;

  it('the billing page lists renewals in charge order and shows the missing balance', async () => {
    const { session, panel: first } = await createPayer(world);
    assert.match(await readPageText(first, '/billing'), /No renewals in the next 30 days/);
    await world.opened.db.run(`update plans set price_cents_month = $1 where id = 's1'`, [PRICE_CENTS]);
    await world.addBalance(session, PRICE_CENTS * 4n + 100n);
    const names: string[] = [];
    for (let n = 0; n < 3; n++) await session.post('/deploy-api.php', deploy);
    await world.settle();
    // A month may have 31 days.
    await world.advance(2 * DAY_S);
    await session.signIn();
    const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
    const { text } = await panel.get('/billing');
    for (const [, name = ''] of text.matchAll(/<a href="\/servers\/srv_\w+">([^<]+)</g)) names.push(name);
    assert.equal(names.length, 3);
    const plain = textOf(text);
    const row = (name: string) =>
      new RegExp(`${name} \\S+ \\S+ UTC 1 month \\$5\\.05 On (renews|insufficient balance) (\\$\\S+)`)
        .exec(plain)
        ?.slice(1);
    assert.deepEqual(names.map(row), [
      ['renews', '$1.00'],
      ['insufficient balance', '$1.00'],
      ['insufficient balance', '$1.00'],
    ]);
    assert.match(plain, /You’re short by \$9\.10 for renewals in the next 30 days/);
    assert.match(text, /href="\/topup\?amount=9\.10"/);
    await world.opened.db.run('update servers set auto_renew = false where name = $1', [names[1]]);
    const ahead = await readPageText(panel, '/billing?days=90');
    assert.match(ahead, new RegExp(`${names[1]} \\S+ \\S+ UTC 1 month \\$5\\.05 Off expires`));
    assert.match(ahead, /Running servers 3/);
  });

  it('the ledger can be filtered by type, each entry has a receipt, and statements add up', async () => {
    const { panel, session } = await createPayer(world);
    const invoice = await orderTopup(panel, '100');
    await payInvoice(world, invoice, invoice.units);
    await mineBlocks(world, 'LTC');
    await session.post('/deploy-api.php', deploy);
    const all = textOf((await panel.get('/billing/ledger')).text);
    assert.match(all, /Charge −\$5\.05 \$124\.95 s1 in par, 1 month s1-/);
    assert.match(all, /Bonus \+\$30\.00 \$\S+ Top-up bonus Top-up/);
    const charges = await panel.get('/billing/ledger?type=charge');
    assert.doesNotMatch(textOf(charges.text), /Top-up bonus/);
    const receipt = /href="(\/billing\/receipts\/led_\w+)"/.exec(charges.text)?.[1] ?? '';
    const charged = await readPageText(panel, receipt);
    assert.match(charged, new RegExp(`Issued by Rock & Sea Issued to ${session.email} Date`));
    assert.match(
      charged,
      /Description s1 in par, 1 month .* Paid from your balance \$5\.05 Balance after \$124\.95 Entry led_/,
    );
    const topup = `/billing/receipts/${invoice.path.split('/').at(-1)}`;
    const paid = await readPageText(panel, topup);
    assert.match(paid, /Credited \$100\.00 Bonus \$30\.00 Total \$130\.00/);
    assert.match(paid, /[0-9a-f]{64} \S+ \S+ UTC 1\.25 LTC \$80\.00 \$100\.00/);
    assert.equal(paid.match(/led_\w{26}/g)?.length, 2);
    const other = await createPayer(world);
    for (const path of [receipt, topup, '/billing/receipts/led_x', '/billing/receipts/srv_x'])
      assert.equal((await other.panel.get(path)).status, 404);
    const month = await readPageText(panel, '/billing/statement?month=nonsense&type=charge');
    assert.match(
      month,
      /Opening balance \$0\.00 Money in \+\$130\.00 Money out −\$5\.05 Current balance \$124\.95/,
    );
    assert.match(month, /Charge s1 in par, 1 month .* −\$5\.05/);
    const past = await readPageText(panel, '/billing/statement?month=2020-02');
    assert.match(past, /Statement for February 2020 .* Closing balance \$0\.00 No entries in this month/);
  });

  it('a long statement is paginated without losing an entry', async () => {
    const { panel, session } = await createPayer(world);
    for (let n = 0; n < 101; n++) await world.addBalance(session, 1n);
    const first = await panel.get('/billing/statement');
    assert.equal(first.text.match(/a gift/g)?.length, 100);
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    assert.match(next, /^\/billing\/statement\?month=\d{4}-\d\d&cursor=/);
    const second = await panel.get(next);
    assert.equal(second.text.match(/a gift/g)?.length, 1);
    assert.match(textOf(second.text), /Money in \+\$1\.01/);
    const giftsOf = async (path: string) => (await panel.get(path)).text.match(/a gift/g)?.length ?? 0;
    assert.equal(await giftsOf(`${next}&type=charge`), 1, 'a statement shows all types');
    const elsewhere = next.replace('/statement?', '/ledger?').replace(/month=\S+?&/, '');
    assert.equal(await giftsOf(elsewhere), 50, 'a cursor of a statement is not valid for the ledger');
    assert.match((await panel.get(elsewhere)).text, /rel="next"/);
    const another = next.replace(/month=\d{4}/, 'month=2020');
    assert.doesNotMatch((await panel.get(another)).text, /a gift|First page/);
  });

  it('the site name is the issuer of receipts and of one-time codes', async () => {
    const { session } = await createPayer(world);
    const begin = { action: 'enable_totp', current_password: PASSWORD };
    const { uri } = (await session.post('/account-api.php', begin)).body;
    assert.match(
      String(uri),
      /^otpauth:\/\/totp\/Rock%20%26%20Sea:u\w+%40example\.org\?issuer=Rock%20%26%20Sea&/,
    );
  });

  it('the renewal period stays the same on later pages of top-ups', async () => {
    const { panel, session } = await createPayer(world);
    const id = await world.opened.db.row<{ id: string }>('select id from customers where email = $1', [
      session.email,
    ]);
    await world.opened.db.run(`insert into coins (code) values ('BTC') on conflict do nothing`);
    await world.opened.db.run(
      `insert into topups (id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents,
                           deposit_address, deposit_uri, deposit_units, rate_usd, required_confirmations,
                           status, expires_at, created_at)
       select gen_random_uuid(), -i, $1 || i, $1::uuid, 'BTC', 3000, 0,
              $1 || i, '', 1, '1', 1,
              'expired', now(), now()
         from generate_series(1, 26) as i`,
      [id?.id],
    );
    const next = /href="([^"]+)" rel="next"/.exec((await panel.get('/billing?days=90')).text)?.[1] ?? '';
    assert.match(next, /^\/billing\?days=90&#38;cursor=/);
    const second = (await panel.get(next.replaceAll('&#38;', '&'))).text;
    assert.match(second, /next 90 days/);
    assert.match(second, /href="\/billing\?days=90">First page/);
    assert.match((await panel.get('/billing')).text, /href="\/billing\?cursor=[^"]+" rel="next"/);
  });
});
