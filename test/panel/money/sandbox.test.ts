/** Top-ups in the panel: presets, the buttons of a sandbox, and links to block explorers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHttpWorld } from '../../http/http-world.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { startWorld } from '../../support/world.ts';
import { createPayer, orderTopup } from '../support/payer.ts';

describe('topping up in a sandbox', () => {
  it('a preset is an amount, and keeps the chosen coin', async () => {
    await using world = await openWorld();
    const { panel } = await createPayer(world);
    const page = await panel.get('/topup?amount=33');
    const options = { action: '/topup/offer', button: ['preset', '250'] } as const;
    const shown = await panel.submit(page, 'create', { coin: 'LTC' }, options);
    assert.equal(shown.location, '/topup?coin=LTC&amount=250#total');
    const text = textOf((await panel.open('/topup?coin=LTC&amount=250')).text);
    assert.match(text, /You pay 3\.125 LTC .* Bonus \$100\.00 Credited \$350\.00/);
    assert.match(text, /Update \$100 \+ \$30 bonus \$250 \+ \$100 bonus/);
  });

  it('two buttons pay a top-up and mine the blocks that confirm it', async () => {
    await using world = await openWorld();
    const { panel } = await createPayer(world);
    const { path, page } = await orderTopup(panel, '100');
    const clicks = await Promise.all([1, 2].map(() => panel.submit(page, 'pay')));
    for (const { location } of clicks) assert.equal(location, `${path}?done=sandbox_paid`);
    await world.settle();
    const paid = await panel.get(path);
    assert.match(textOf(paid.text), /We received 1\.25 LTC, .* 0 of 2 confirmations/);
    assert.doesNotMatch(paid.text, /<button>Pay/);
    const one = await panel.submit(paid, 'mine', {}, { button: ['count', '1'] });
    assert.equal(one.location, `${path}?done=sandbox_mined`);
    await world.settle();
    const half = await panel.get(path);
    assert.match(textOf(half.text), /1 of 2 confirmations/);
    await panel.submit(half, 'mine', {}, { button: ['count', '1'] });
    await world.settle();
    const done = await panel.get(path);
    assert.match(textOf(done.text), /\$100\.00 was credited .* confirmed \(2 required\)/);
    assert.doesNotMatch(done.text, /<button>Pay|Mine a block/);
  });

  it('a service without simulated coins has neither of the buttons, nor what they lead to', async () => {
    const world = await startHttpWorld({ catalogue: true });
    try {
      const session = await world.customer();
      const panel = PanelClient.forApp(world.app, { cookie: session.cookie });
      const { path, page } = await orderTopup(panel, '100');
      assert.doesNotMatch(page.text, /<button>Pay|Mine a block|sandbox\/payments/);
      const [, token = ''] = /name="_token" value="(\w+)"/.exec(page.text) ?? [];
      for (const form of ['pay', 'mine']) {
        const refused = await panel.post(path, [
          ['_token', token],
          ['_form', form],
          ['_once', 'x'],
        ]);
        assert.equal(refused.status, 400, form);
      }
    } finally {
      await world.close();
    }
  });

  it('a transaction can be copied whole, and links to the explorer that the operator set', async () => {
    await using world = await openWorld({ SKERRY_EXPLORERS: 'litecoin=https://explorer.example/tx/{tx}' });
    const { panel } = await createPayer(world);
    for (const coin of ['LTC', 'BTC']) {
      const { path, page } = await orderTopup(panel, '100', coin);
      await panel.submit(page, 'pay');
      await world.settle();
      const { text } = await panel.get(path);
      const [, txid = ''] = /<code class="copy txid" data-copy title="(\w+)">\1<\/code>/.exec(text) ?? [];
      assert.ok(txid.length >= 16);
      const link = `<a href="https://explorer.example/tx/${txid}" rel="noreferrer noopener">`;
      assert.equal(text.includes(link), coin === 'LTC');
    }
  });
});

async function openWorld(settings: Readonly<Record<string, string>> = {}) {
  const world = await startWorld(settings);
  return { ...world, [Symbol.asyncDispose]: () => world.close() };
}
