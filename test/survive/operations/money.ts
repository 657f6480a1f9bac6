/** Customers top up, and pay on a simulated chain. */
import { postSandbox } from '../../support/answers.ts';
import type { ModelTopup } from '../model/model.ts';
import type { World } from '../world/world.ts';
import type { Acting } from './acting.ts';

const COINS = ['LTC', 'XMR', 'USDT'] as const;
/** Below and above the first tier of the bonus. The first one pays for many servers. */
const AMOUNTS_USD = [30, 45.5, 99, 100, 250] as const;
const FIRST_USD = 1_000;
const BLOCKS_MAX = 12;

export async function topUp(acting: Acting): Promise<void> {
  const { customer, step } = acting;
  const coin = COINS[step.target % COINS.length] ?? 'LTC';
  const amountUsd =
    customer.topups.length === 0 ? FIRST_USD : (AMOUNTS_USD[step.value % AMOUNTS_USD.length] ?? 30);
  const answer = await acting.change('POST', '/billing/topup', { coin, amount_usd: amountUsd }, [409, 422]);
  if (answer?.status !== 201) return;
  const { id, deposit_address: address, deposit_amount: amount } = answer.body;
  const topup = { id, coin, address, amount, cents: BigInt(Math.round(amountUsd * 100)) };
  customer.topups.push(topup);
  await pay(acting, topup);
}

export async function topUpByForm(acting: Acting): Promise<void> {
  const { customer, step } = acting;
  const coin = COINS[step.target % COINS.length] ?? 'LTC';
  const amount = AMOUNTS_USD[step.value % AMOUNTS_USD.length] ?? 30;
  const made = await acting.form('/topup-api.php', { action: 'create', amount, coin });
  if (made?.body.ok !== true) return;
  const ref = String(made.body.order_ref);
  const status = await acting.signedIn(
    (session) => session.get(`/topup-status.php?ref=${ref}`),
    (answer) => answer.status === 401,
    `${acting.name} status`,
  );
  if (status?.status !== 200) return;
  const { deposit_address: address, deposit_amount: coins } = status.body;
  const topup = { id: null, coin, address, amount: coins, cents: BigInt(Math.round(amount * 100)) };
  customer.topups.push(topup);
  await pay(acting, topup);
}

/** Some payments are never made, and some never mined until the next calm. */
async function pay({ world, step }: Acting, topup: ModelTopup): Promise<void> {
  if (step.other % 6 === 0) return;
  await payOnChain(world, topup, step.via);
  const count = 1 + (step.value % BLOCKS_MAX);
  await world.asker.ask('blocks', step.via, (url) => postSandbox(url, 'blocks', { coin: topup.coin, count }));
}

/** Pays once: an attempt whose outcome is unknown is looked up on the chain. */
export async function payOnChain(world: World, topup: ModelTopup, via: number): Promise<void> {
  const { coin, address, amount } = topup;
  await world.asker.ask(`payment to ${coin}`, via, async (url) => {
    if (await world.chains.isPaid(topup)) return { status: 200, headers: new Headers(), text: '', body: {} };
    return await postSandbox(url, 'payments', { coin, address, amount });
  });
}
