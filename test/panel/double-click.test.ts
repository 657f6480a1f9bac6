import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PANEL_PAGES } from '../../src/http/panel/pages.ts';
import { PanelClient } from '../support/panel-client.ts';
import { IS_FULL_RUN } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld } from '../support/world.ts';
import type { Click, Clicker } from './support/click.ts';
import { CLICKS } from './support/clicks.ts';
import { publicKey } from './support/estate.ts';
import { type Estate, startPanelWorld } from './support/world.ts';

const LARGE_BALANCE_CENTS = 50_000n;

describe('a form that is clicked twice', () => {
  let clicker: Clicker;
  before(async () => {
    clicker = IS_FULL_RUN ? await fundedClicker() : await simpleClicker();
    await clicker.world.addBalance(clicker.session, LARGE_BALANCE_CENTS);
  });
  after(() => clicker?.world.close());

  it('every form has a double-click test case', () => {
    const forms = PANEL_PAGES.flatMap(({ path, forms = {} }) =>
      Object.keys(forms).map((name) => `${path} ${name}`),
    );
    assert.deepEqual(CLICKS.map(({ form }) => form.join(' ')).sort(), forms.sort());
  });

  /** Counts how often the audit log contains the action, by any actor. */
  async function countAction(action: string): Promise<number> {
    const { db } = clicker.world.opened;
    const row = await db.row<{ count: number }>(
      `select count(*)::int as count from audit_events where action = $1 and result = 'ok'`,
      [action],
    );
    return row?.count ?? 0;
  }

  for (const click of CLICKS.filter(({ plain }) => IS_FULL_RUN || plain)) {
    it(`a double click submits once: ${click.form.join(' ')}`, async () => {
      const mine = await clickerFor(clicker, click);
      await click.prepare?.(mine);
      const fields = typeof click.fields === 'function' ? await click.fields(mine) : (click.fields ?? {});
      const page = await mine.panel.get(click.at?.(clicker.estate) ?? click.form[0]);
      assert.equal(page.status, 200);
      const options = {
        ...(click.key ? { key: await keyOf(click, mine) } : {}),
        ...(click.button ? { button: buttonOf(page.text, click.button) } : {}),
        ...(click.action ? { action: click.action } : {}),
      };
      const before = click.once === null ? 0 : await countAction(click.once);
      const submit = () => browserOf(mine).submit(page, click.form[1], fields, options);
      const responses = [...(await Promise.all([submit(), submit()])), await submit()];
      for (const { status, text } of responses)
        assert.ok(status < 400, `${status} ${/role="alert">.*?<\/div>/s.exec(text)}`);
      const places = new Set(responses.map(({ status, location }) => `${status} ${location}`));
      if (!click.apart) assert.equal(places.size, 1, [...places].join(', '));
      if (click.once !== null) assert.equal((await countAction(click.once)) - before, 1, click.once);
      await clicker.world.settle();
    });
  }
});

function buttonOf(page: string, name: string): readonly [string, string] {
  return [name, new RegExp(`<button[^>]* name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ''];
}

/** Opens another tab of the same browser: both clicks send the same cookie. */
function browserOf({ world, panel }: Clicker): PanelClient {
  return PanelClient.forUrl(world.url, { cookie: panel.cookie });
}

async function clickerFor(clicker: Clicker, { who }: Click): Promise<Clicker> {
  const { world } = clicker;
  if (who === undefined) return clicker;
  const session = await world.customer();
  if (who === 'stranger') return { ...clicker, session, panel: PanelClient.forUrl(world.url) };
  await SessionClient.forUrl(world.url).signIn(session.email);
  return { ...clicker, session, panel: PanelClient.forUrl(world.url, { cookie: session.cookie }) };
}

/** Returns the key of the form: another session's id, or the key of the test case. */
async function keyOf(click: Click, mine: Clicker): Promise<string> {
  if (click.form[1] !== 'end') return click.key?.(mine) ?? '';
  const { body } = await mine.session.post('/account-api.php', { action: 'list_sessions' });
  const sessions = body.sessions as readonly { readonly id: string; readonly current: boolean }[];
  return sessions.find(({ current }) => !current)?.id ?? '';
}

async function fundedClicker(): Promise<Clicker> {
  const world = await startPanelWorld();
  // Let pending installations finish.
  await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
  return { ...world, world };
}

/** Creates a customer with only an SSH key, which is enough to order a server. */
async function simpleClicker(): Promise<Clicker> {
  const world = await startWorld();
  const session = await world.customer();
  const api = V1Client.forUrl(world.url, await createApiToken(session));
  await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(1, 'ada') });
  const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
  return { world, session, panel, estate: {} as Estate };
}
