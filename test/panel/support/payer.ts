/** A customer who creates top-ups in the panel, pays them on the simulated chain, and reads pages. */
import assert from 'node:assert/strict';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import type { World } from '../../support/world.ts';

export interface Payer {
  readonly session: SessionClient;
  readonly panel: PanelClient;
}

export async function createPayer(world: World): Promise<Payer> {
  const session = await world.customer();
  return { session, panel: PanelClient.forUrl(world.url, { cookie: session.cookie }) };
}

/** Creates a top-up and returns its page, its amount, and its address. */
export async function orderTopup(panel: PanelClient, amount: string, coin = 'LTC') {
  const made = await panel.submit(await panel.get('/topup'), 'create', { coin, amount });
  const path = made.location?.split('?')[0] ?? '';
  assert.match(path, /^\/billing\/topups\/top_\w{26}$/, made.text);
  const page = await panel.get(path);
  const [, units = '', address = ''] = /data-copy>([^<]+)<.*?data-copy>([^<]+)</s.exec(page.text) ?? [];
  return { path, page, units, address, coin };
}

export async function payInvoice(
  world: World,
  invoice: { readonly coin: string; readonly address: string },
  amount: string,
): Promise<void> {
  await world.sandbox('payments', { coin: invoice.coin, address: invoice.address, amount });
  await world.settle();
}

export async function mineBlocks(world: World, coin: string, count = 6): Promise<void> {
  await world.sandbox('blocks', { coin, count });
  await world.settle();
}

/** Returns the text of a page as a visitor sees it. */
export async function readPageText(panel: PanelClient, path: string): Promise<string> {
  const { status, text } = await panel.get(path);
  assert.equal(status, 200);
  return textOf(text);
}
