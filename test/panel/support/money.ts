/** Creates top-ups in every state that a customer can see. */
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import type { SessionClient } from '../../support/session-client.ts';
import type { V1Client } from '../../support/v1-client.ts';
import type { World } from '../../support/world.ts';
import { expectSuccess } from './estate.ts';

export type TopupState =
  | 'waiting'
  | 'confirming'
  | 'credited'
  | 'expired'
  | 'cancelled'
  | 'short'
  | 'over'
  | 'late'
  | 'held';

interface Invoice {
  readonly id: string;
  readonly coin: string;
  readonly deposit_address: string;
  readonly deposit_amount: string;
}

/** Keeps the credited total below the price of the suspended server's next cycle. */
export async function makeTopups(
  world: World,
  api: V1Client,
  session: SessionClient,
): Promise<Readonly<Record<TopupState, string>>> {
  const create = async (coin: string, amount_usd = 30): Promise<Invoice> =>
    expectSuccess(await api.post('/billing/topup', { coin, amount_usd }));
  const pay = (invoice: Invoice, part = 1) =>
    world.sandbox('payments', {
      coin: invoice.coin,
      address: invoice.deposit_address,
      amount: scaledAmount(invoice, part),
    });
  const confirm = (coin: string) => world.sandbox('blocks', { coin, count: 60 });
  const [expired, late] = [await create('BTC', 250), await create('ETH')];
  await world.advance(5 * 3_600);
  await pay(late);
  await confirm('ETH');
  const over = await create('LTC');
  await pay(over, 1.2);
  await confirm('LTC');
  await world.settle();
  const { service } = world.opened;
  await setSwitch(service, 'topup-credit', false);
  const held = await create('XMR', 100);
  await pay(held);
  await confirm('XMR');
  await world.settle();
  await setSwitch(service, 'topup-credit', true);
  const credited = await create('BTC');
  await pay(credited);
  await confirm('BTC');
  const cancelled = { id: await makeCancelled(api, session) };
  const short = await create('LTC', 40);
  await pay(short, 0.5);
  const [confirming, waiting] = [await create('ETH', 60), await create('BTC', 100)];
  await pay(confirming);
  await world.settle();
  const all = { waiting, confirming, credited, expired, cancelled, short, over, late, held };
  const ids = Object.entries(all).map(([state, { id }]) => [state, id]);
  return Object.fromEntries(ids) as Record<TopupState, string>;
}

/** Cancels a top-up; the REST API cannot do that. */
async function makeCancelled(api: V1Client, session: SessionClient): Promise<string> {
  const { body } = await session.post('/topup-api.php', { action: 'create', amount: '45.50', coin: 'LTC' });
  const [newest] = expectSuccess(await api.get('/billing/topup?page_size=1')).data;
  await session.post('/topup-api.php', { action: 'cancel', order_ref: String(body.order_ref) });
  return newest.id;
}

/** Returns a fraction of the requested amount, to eight decimal places. */
function scaledAmount({ deposit_amount }: Invoice, part: number): string {
  return part === 1 ? deposit_amount : (Number(deposit_amount) * part).toFixed(8);
}
