import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const SERVER = {
  product: 'vps',
  plan: 's1',
  region: 'rek',
  os: 'debian-12',
  billing: 1,
  root_password: 'a long root password',
};
const TOPUP = { action: 'create', amount: 50, coin: 'LTC' };

describe('the money endpoints', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
  });
  after(() => world.close());

  describe('/topup-api.php and /topup-status.php', () => {
    it('the top-up endpoints create an invoice that its owner can watch', async () => {
      const client = await world.customer();
      const made = await client.post('/topup-api.php', TOPUP);
      assert.equal(made.status, 200);
      assert.deepEqual(Object.keys(made.body), ['ok', 'order_ref', 'payment_id']);
      assert.ok(Number.isSafeInteger(made.body.payment_id));
      const poll = await client.get(`/topup-status.php?ref=${made.body.order_ref}`);
      assert.equal(poll.status, 200);
      assert.equal(poll.body.status, 'waiting');
      assert.equal(poll.body.deposit_amount, '0.625');
      assert.match(String(poll.body.deposit_address), /^\S{20,}$/);
      assert.match(String(poll.body.expires_at), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    });

    it('an invalid top-up is rejected with HTTP 200', async () => {
      const client = await world.customer();
      for (const [fields, error, extra] of [
        [{ amount: '29.99' }, 'amount_too_low', { min: 30 }],
        [{ amount: '10000.01' }, 'amount_too_high', { max: 10_000 }],
        [{ amount: 'much' }, 'bad_amount', {}],
        [{ amount: '' }, 'bad_amount', {}],
        [{ coin: 'DOGE' }, 'bad_coin', {}],
        [{ coin: '__proto__' }, 'bad_coin', {}],
      ] as const) {
        const answer = await client.post('/topup-api.php', { ...TOPUP, ...fields });
        assert.equal(answer.status, 200);
        const { msg, ...rest } = answer.body;
        assert.deepEqual(rest, { ok: false, error, ...extra });
        assert.equal(typeof msg, 'string');
      }
      const unknown = await client.post('/topup-api.php', { action: 'refund' });
      assert.deepEqual([unknown.status, unknown.body.error], [400, 'bad_action']);
    });

    it('a top-up is canceled once, before a payment arrives', async () => {
      const client = await world.customer();
      const ref = String((await client.post('/topup-api.php', TOPUP)).body.order_ref);
      const cancel = { action: 'cancel', order_ref: ref };
      assert.deepEqual((await client.post('/topup-api.php', cancel)).body, { ok: true });
      assert.equal((await client.get(`/topup-status.php?ref=${ref}`)).body.status, 'cancelled');
      const again = await client.post('/topup-api.php', cancel);
      assert.deepEqual([again.status, again.body.error], [200, 'not_cancellable']);
    });

    it('an invoice of another customer is not found', async () => {
      const [owner, other] = [await world.customer(), await world.customer()];
      const ref = String((await owner.post('/topup-api.php', TOPUP)).body.order_ref);
      const foreign = await other.get(`/topup-status.php?ref=${ref}`);
      const missing = await other.get('/topup-status.php?ref=ord_nothing');
      assert.deepEqual([foreign.status, foreign.body.error], [404, 'not_found']);
      assert.equal(foreign.text, missing.text);
      const cancel = await other.post('/topup-api.php', { action: 'cancel', order_ref: ref });
      assert.deepEqual([cancel.status, cancel.text], [404, missing.text]);
      assert.equal((await world.visitor().get(`/topup-status.php?ref=${ref}`)).status, 401);
      for (const odd of ['%00', `${ref}%00`, '%EF%BF%BD']) {
        assert.equal((await owner.get(`/topup-status.php?ref=${odd}`)).text, missing.text, odd);
      }
      assert.equal((await owner.get('/topup-status.php')).status, 400);
      assert.equal((await owner.get(`/topup-status.php?ref=${ref}&ref=${ref}`)).body.field, 'ref');
    });
  });

  describe('/deploy-api.php', () => {
    it('a deploy orders a server and shows its price in euros', async () => {
      const client = await world.customer();
      await world.creditBalance(client, 100_000n);
      const answer = await client.post('/deploy-api.php', { ...SERVER, billing: 12 });
      assert.equal(answer.status, 200);
      const { ok, server_id, monthly_eur, total_eur, redirect } = answer.body;
      assert.deepEqual(Object.keys(answer.body), ['ok', 'server_id', 'monthly_eur', 'total_eur', 'redirect']);
      assert.equal(ok, true);
      assert.ok(Number.isSafeInteger(server_id));
      assert.equal(redirect, `/servers/${server_id}`);
      assert.ok(Number(monthly_eur) > 0 && Number(total_eur) > Number(monthly_eur));
      const page = await client.get(String(redirect));
      assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    });

    it('an insufficient balance shows the missing amount and where to top up', async () => {
      const client = await world.customer();
      await world.creditBalance(client, 100n);
      const { status, body } = await client.post('/deploy-api.php', SERVER);
      assert.deepEqual([status, body.ok, body.error, body.have], [200, false, 'insufficient_balance', 1]);
      assert.equal(Number(body.deficit).toFixed(2), (Number(body.need) - 1).toFixed(2));
      assert.equal(body.topup, `/topup?amount=${Number(body.deficit).toFixed(2)}`);
      assert.equal((await client.get(String(body.topup))).status, 200);
    });

    it('a deploy checks its fields in order and answers each error with HTTP 200', async () => {
      const client = await world.customer();
      const faults = [
        ['product', 'cloud', 'bad_product'],
        ['plan', 'r1', 'bad_plan'],
        ['region', 'rkv', 'bad_region'],
        ['os', 'windows', 'bad_os'],
        ['billing', '2', 'bad_billing'],
        ['root_password', 'elevenchars', 'bad_password'],
      ] as const;
      for (const [index, [, , error]] of faults.entries()) {
        const wrong = Object.fromEntries(faults.slice(index).map(([name, value]) => [name, value]));
        const answer = await client.post('/deploy-api.php', { ...SERVER, ...wrong });
        assert.deepEqual([answer.status, answer.body.error], [200, error]);
      }
      const hint = (await client.post('/deploy-api.php', { ...SERVER, root_password: 'short' })).body.hint;
      assert.match(String(hint), /12 or more/);
    });
  });

  describe('an Idempotency-Key on the session surface', () => {
    const key = { headers: { 'idempotency-key': 'click-1' } };

    it('an Idempotency-Key turns a double click into one server, one charge, and one audit row', async () => {
      const client = await world.customer();
      await world.creditBalance(client, 100_000n);
      const answers = await Promise.all([1, 2, 3].map(() => client.post('/deploy-api.php', SERVER, key)));
      assert.equal(new Set(answers.map((one) => one.text)).size, 1);
      assert.equal(answers[0]?.body.ok, true);
      assert.equal(new Set(answers.map((one) => one.headers.get('x-request-id'))).size, 1);
      assert.equal(answers.filter((one) => one.headers.get('idempotent-replayed') === 'true').length, 2);
      assert.deepEqual(
        (await world.auditLines(client)).filter((line) => line === 'server.create ok').length,
        1,
      );
    });

    it('an Idempotency-Key with another request gets 409, regardless of the CSRF token', async () => {
      const client = await world.customer();
      const first = await client.post('/topup-api.php', TOPUP, key);
      const headers = { ...key.headers, 'x-csrf-token': client.csrf ?? '' };
      const byHeader = await client.post('/topup-api.php', TOPUP, { token: null, headers });
      assert.equal(byHeader.text, first.text);
      const other = await client.post('/topup-api.php', { ...TOPUP, amount: 51 }, key);
      assert.deepEqual([other.status, other.body.error], [409, 'idempotency_conflict']);
    });

    it('an Idempotency-Key makes repeated and concurrent cancellations one', async () => {
      const client = await world.customer();
      const ref = String((await client.post('/topup-api.php', TOPUP)).body.order_ref);
      const cancel = { action: 'cancel', order_ref: ref };
      const answers = await Promise.all([1, 2].map(() => client.post('/topup-api.php', cancel, key)));
      answers.push(await client.post('/topup-api.php', cancel, key));
      for (const answer of answers) assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
      assert.equal(answers.filter((one) => one.headers.get('idempotent-replayed') === 'true').length, 2);
      assert.deepEqual(await world.auditLines(client), [
        'customer.sign_up ok',
        'topup.create ok',
        'topup.cancel ok',
      ]);
      const create = await client.post('/topup-api.php', TOPUP, key);
      assert.deepEqual([create.status, create.body.error], [409, 'idempotency_conflict']);
    });

    it('an Idempotency-Key stores no error responses', async () => {
      const client = await world.customer();
      assert.equal((await client.post('/deploy-api.php', SERVER, key)).body.error, 'insufficient_balance');
      await world.creditBalance(client, 100_000n);
      assert.equal((await client.post('/deploy-api.php', SERVER, key)).body.ok, true);
    });

    it('an Idempotency-Key belongs to its customer and must be visible ASCII', async () => {
      const [one, two] = [await world.customer(), await world.customer()];
      const [a, b] = [
        await one.post('/topup-api.php', TOPUP, key),
        await two.post('/topup-api.php', TOPUP, key),
      ];
      assert.notEqual(a.body.order_ref, b.body.order_ref);
      for (const bad of ['', 'a b', 'x'.repeat(256)]) {
        const answer = await one.post('/topup-api.php', TOPUP, { headers: { 'idempotency-key': bad } });
        assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request']);
      }
    });
  });
});
