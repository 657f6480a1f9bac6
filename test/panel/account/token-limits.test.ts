import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../../src/http/v1/routes.ts';
import { SCOPE_EXAMPLES } from '../../../src/panel/account/tokens.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';
import { PanelClient, problemOf, textOf } from '../../support/panel-client.ts';
import { PASSWORD } from '../../support/session-client.ts';

describe('the limits of tokens in the panel', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
  });
  after(() => world.close());

  it('each scope names operations that it adds to the scope before it', async () => {
    const { cookie } = await world.customer();
    const { text } = await PanelClient.forApp(world.app, { cookie }).get('/account/tokens');
    for (const [scope, names] of Object.entries(SCOPE_EXAMPLES)) {
      for (const name of names) assert.equal(ROUTES.find(({ id }) => id === name)?.scope, scope, name);
      assert.ok(
        text.includes(`For example ${names.map((name) => `<code>${name}</code>`).join(', ')}`),
        scope,
      );
    }
    assert.match(textOf(text), /Tokens and API requests are free/);
  });

  it('a token is created with limits, which its page shows and narrows', async () => {
    const { cookie } = await world.customer();
    const panel = PanelClient.forApp(world.app, { cookie });
    const page = await panel.get('/account/tokens');
    const wanted = {
      name: 'ci',
      scope: 'write',
      current_password: PASSWORD,
      'limits.operations': 'servers.list\r\nservers.get\r\n',
      'limits.label_selector': 'env=ci',
      'limits.spend_usd': '50',
      'limits.spend_period': 'month',
    };
    const wrong = await panel.submit(page, 'create', { ...wanted, 'limits.operations': 'servers.fly' });
    assert.ok(problemOf(wrong.text, 'limits.operations', 'create'), wrong.text);
    assert.match((await panel.submit(page, 'create', wanted)).text, /skerry_live_/);
    const list = await panel.get('/account/tokens');
    assert.match(textOf(list.text), /ci write, limited/);
    const path = /\/account\/tokens\/tok_[a-z2-7]+/.exec(list.text)?.[0] ?? '';
    const shown = await panel.get(path);
    assert.match(
      textOf(shown.text),
      /Operations servers\.list, servers\.get Labels env=ci Spent \$0\.00 of \$50\.00/,
    );
    const wider = await panel.submit(shown, 'update', { name: 'ci', 'limits.spend_usd': '60' });
    assert.match(problemOf(wider.text, 'limits.spend_usd', 'update') ?? '', /narrowed/);
    const changed = await panel.submit(shown, 'update', {
      name: 'ci-2',
      'limits.spend_usd': '40',
      'limits.spend_period': 'month',
    });
    assert.equal(changed.location, `${path}?done=token_updated`);
    assert.match(textOf((await panel.get(path)).text), /of \$40\.00 this month/);
  });
});
