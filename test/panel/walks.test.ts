/** The walks of docs/panel-walks.md, without scripts: each click follows what the page before it contains. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type FormInput, PanelClient, type PanelResponse, textOf } from '../support/panel-client.ts';
import { PASSWORD } from '../support/session-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { publicKey } from './support/estate.ts';

const DOC = readFileSync(new URL('../../docs/panel-walks.md', import.meta.url), 'utf8');

/** A visitor who counts clicks, and the fields that they type or choose. */
class Walker {
  readonly world: World;
  readonly #panel: PanelClient;
  page: PanelResponse;
  clicks = 0;
  fields = 0;

  private constructor(world: World, panel: PanelClient, page: PanelResponse) {
    this.world = world;
    this.#panel = panel;
    this.page = page;
  }

  static async at(world: World, path: string, cookie?: string): Promise<Walker> {
    const panel = PanelClient.forUrl(world.url, { cookie });
    return new Walker(world, panel, await panel.open(path));
  }

  async follow(words: string): Promise<void> {
    const link = new RegExp(`<a [^>]*?href="([^"]+)"[^>]*>${words}<`).exec(this.page.text);
    assert.ok(link, `${this.page.path} has no link ${words}`);
    this.clicks += 1;
    this.page = await this.#panel.open(link[1] ?? '');
  }

  /** Presses the button with these words, with its own action and value. */
  async press(form: string, words: RegExp, typed: FormInput = {}): Promise<void> {
    const buttons = [...this.page.text.matchAll(/<button([^>]*)>([^<]*)/g)];
    const [, attributes = ''] = buttons.find(([, , text = '']) => words.test(text)) ?? [];
    assert.ok(
      buttons.some(([, , text = '']) => words.test(text)),
      `${this.page.path} has no button ${words}`,
    );
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
    const [action, name, value] = [of('formaction'), of('name'), of('value')];
    this.clicks += 1;
    this.fields += Object.keys(typed).length;
    const done = await this.#panel.submit(this.page, form, typed, {
      ...(action === undefined ? {} : { action }),
      ...(name === undefined ? {} : { button: [name, value ?? ''] as const }),
    });
    this.page = await this.#panel.followRedirects(done);
    assert.ok(this.page.status < 400, textOf(this.page.text));
  }

  /** Waits for the service, as a visitor does who watches the page. */
  async watch(): Promise<void> {
    await this.world.settle();
    this.page = await this.#panel.get(this.page.path.replace(/[?&]done=\w+/, ''));
  }

  get text(): string {
    return textOf(this.page.text);
  }
}

/** Fails unless the document has these numbers in the row of the walk. */
function requireDocumented(walk: string, { clicks, fields }: Pick<Walker, 'clicks' | 'fields'>): void {
  const row = DOC.split('\n').find((line) => line.startsWith(`| ${walk} |`)) ?? '';
  const cells = row.split('|').map((cell) => cell.trim());
  assert.deepEqual(cells.slice(4, 6), [String(clicks), String(fields)], `the row ${walk}: ${row}`);
}

describe('the walks of a customer', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('a visitor signs up, orders with an empty balance, tops up, returns, and has a server', async () => {
    const ada = await Walker.at(world, '/');
    await ada.follow('Sign up');
    const email = `ada-${crypto.randomUUID()}@example.org`;
    await ada.press('sign_up', /^Sign up$/, { email, password: PASSWORD, password_confirm: PASSWORD });
    await ada.follow('I’ve saved it, continue');
    assert.match(ada.text, /Deploy a server .* short by \$[\d.]+/);
    const image = /<option value="(img_\w+)">Debian 13/.exec(ada.page.text)?.[1] ?? '';
    const name = /name="name"[^>]* value="([^"]+)"/.exec(ada.page.text)?.[1] ?? '';
    await ada.press('deploy', /^Top up \$/, { image, key_text: publicKey(1, 'ada') });
    assert.match(ada.text, /We keep your order of \S+ \(s1\) until/);
    await ada.press('create', /^Continue to payment$/, { coin: 'LTC' });
    const { clicks, fields } = ada;
    await ada.press('pay', /^Pay this top-up$/);
    await ada.watch();
    assert.match(ada.text, /0 of 2 confirmations/);
    await ada.press('mine', /^Mine 2 blocks$/);
    await ada.watch();
    assert.match(ada.text, /was credited to your balance/);
    // With real coins, a wallet and the network do this.
    assert.equal(ada.clicks - clicks, 2);
    Object.assign(ada, { clicks, fields });
    await ada.follow('Continue your order');
    assert.ok(ada.page.text.includes(`value="${image}" selected`));
    assert.match(ada.page.text, new RegExp(`name="name"[^>]* value="${name}"`));
    assert.ok(ada.page.text.includes(`${publicKey(1, 'ada')}</textarea>`));
    await ada.press('deploy', /^Deploy server$/);
    await ada.watch();
    assert.match(ada.text, new RegExp(`${name} .*running`));
    requireDocumented('Sign-up to running server', ada);
  });

  it('a customer tops up', async () => {
    const session = await world.customer();
    const ada = await Walker.at(world, '/servers', session.cookie);
    await ada.follow('Billing');
    await ada.follow('Top up');
    await ada.press('create', /^Continue to payment$/, { coin: 'LTC', amount: '100' });
    assert.match(ada.text, /Send exactly this amount of LTC/);
    requireDocumented('Top-up', ada);
  });
});
