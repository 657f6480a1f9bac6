/** A person with a browser who reads, types, and clicks. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { World } from '../../support/world.ts';

/** Input by field label; true ticks a checkbox or chooses a radio button. */
type Typed = Readonly<Record<string, string | true>>;

const LOADS_MAX = 60;

export class BrowserUser {
  readonly page: Page;
  readonly world: World;

  constructor(page: Page, world: World) {
    this.page = page;
    this.world = world;
  }

  /** Enters a path in the address bar. */
  async open(path: string): Promise<void> {
    const response = await this.page.goto(`${this.world.url}${path}`);
    assert.equal(response?.status(), 200, path);
  }

  get path(): string {
    return this.page.url().slice(this.world.url.length).split('?')[0] ?? '';
  }

  /** Follows a link by its text. */
  async followLink(words: string): Promise<void> {
    const link = this.page.getByRole('link', { name: words, exact: true }).first();
    await this.#clickAndWait(() => link.click());
  }

  /** Expands the page, fills in a form, and presses its button. */
  async submitForm(form: string, button: string, typed: Typed = {}): Promise<void> {
    const at = this.page.locator(`form:has(> input[name=_form][value="${form}"])`).first();
    await this.#expandDetails();
    for (const [label, text] of Object.entries(typed)) await fill(at.getByLabel(label).first(), text);
    const pressed = at.getByRole('button', { name: button, exact: true }).first();
    await this.#clickAndWait(() => pressed.click());
  }

  /** Fails unless the page shows the text. */
  async expectText(text: string | RegExp): Promise<void> {
    await this.page
      .getByText(text)
      .first()
      .waitFor({ timeout: 5_000 })
      .catch(async () => {
        assert.fail(`${this.path} does not say ${text}: ${await this.#text()}`);
      });
  }

  /** Reloads the page until it shows the text. */
  async reloadUntil(text: RegExp): Promise<void> {
    for (let loads = 0; loads < LOADS_MAX; loads += 1) {
      if (text.test(await this.#text())) return;
      await this.world.settle();
      await this.page.reload();
    }
    assert.fail(`${this.path} never says ${text}: ${await this.#text()}`);
  }

  /** Returns the texts with a copy button, in order. */
  async copyableTexts(): Promise<readonly string[]> {
    return await this.page.locator('main [data-copy]').allTextContents();
  }

  async #text(): Promise<string> {
    return (await this.page.locator('main').textContent()) ?? '';
  }

  async #expandDetails(): Promise<void> {
    const closed = this.page.locator('main details:not([open]) > summary');
    while ((await closed.count()) > 0) await closed.first().click();
  }

  async #clickAndWait(click: () => Promise<void>): Promise<void> {
    const left = this.page.waitForNavigation({ waitUntil: 'load' });
    await Promise.all([left, click()]);
  }
}

async function fill(control: Locator, text: string | true): Promise<void> {
  if (text === true) return await control.check();
  const tag = await control.evaluate((element) => element.tagName);
  if (tag !== 'SELECT') return await control.fill(text);
  const option = control.locator('option', { hasText: text }).first();
  await control.selectOption((await option.getAttribute('value')) ?? text);
}
