import type { Topup } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { TOPUP_MAX_USD, TOPUP_MIN_USD } from '../../limits.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, decimal, flag, integer, text } from '../../options.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../../terminal/create-once.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { chooseAmount, chooseCoin } from './choose.ts';
import { fetchServiceTime } from './clock.ts';
import { COIN_CODES } from './coins.ts';
import { TOPUP_COLUMNS } from './columns.ts';
import { paymentInstructions } from './messages.ts';
import { describeOutcome, overpaidUsd } from './outcome.ts';
import { qrLines } from './qr.ts';
import { DEFAULT_TIMEOUT_S, waitForCredit } from './wait-for-credit.ts';

const STATUSES = ['pending', 'confirming', 'credited', 'expired'] as const;
const TIMEOUT_MAX_S = 7 * 24 * 60 * 60;

const create = command({
  name: 'topup create',
  isDefault: true,
  about: 'Top up the balance: get a payment address and wait until the payment is credited',
  help: `On a terminal, the command asks for coin and amount if you omit them. Ctrl-C stops only the
waiting; the top-up stays open. Exits with 10 if the top-up expires before you pay, or if the operator
withholds credits. Requires a token with scope billing.`,
  operations: ['topups.create', 'topups.get', 'balance.get'],
  options: {
    coin: text('coin', 'Coin to pay with', { choices: COIN_CODES }),
    amountUsd: decimal('usd', `Amount in US dollars, ${TOPUP_MIN_USD} to ${TOPUP_MAX_USD}`, {
      min: TOPUP_MIN_USD,
      max: TOPUP_MAX_USD,
    }),
    noQr: flag('Hide the QR code'),
    noWait: flag('Return immediately without waiting for the credit'),
    timeout: integer('seconds', `Maximum time to wait (default: ${DEFAULT_TIMEOUT_S}, a day)`, {
      min: 1,
      max: TIMEOUT_MAX_S,
    }),
    ...IDEMPOTENCY_OPTIONS,
  },
  columns: TOPUP_COLUMNS,
  example: 'skerry topup --coin LTC --amount-usd 100 --no-wait',
  run: async (context, { coin, amountUsd, noQr, noWait, timeout, idempotencyKey }) => {
    const { skerry, terminal, output } = context;
    const body = {
      coin: await chooseCoin(terminal, coin),
      amount_usd: await chooseAmount(terminal, amountUsd),
    };
    const asked = {
      key: idempotencyKey,
      subject: 'the top-up',
      lookupCommand: ['skerry', 'topup', 'list', '--status', 'pending'],
    };
    const topup = await createOnce(context, asked, (once) => skerry.topups.create(body, once));
    if (noWait && output.isMachineReadable) {
      output.show(topup, TOPUP_COLUMNS);
      return;
    }
    showPayment(terminal, topup, noQr);
    // The top-up is new, so the service's clock is at `created_at`.
    const leftMs = Date.parse(topup.expires_at) - Date.parse(topup.created_at);
    const show = (seen: Topup) => output.show(seen, TOPUP_COLUMNS);
    const last = noWait ? topup : await waitForCredit(context, topup, timeout, leftMs, show);
    show(last);
    await noteOutcome(context, last);
  },
});

const list = command({
  name: 'topup list',
  aliases: ['ls'],
  about: 'List top-ups',
  operations: ['topups.list'],
  options: {
    status: text('status', 'Filter by status', { choices: STATUSES }),
    coin: text('coin', 'Filter by coin', { choices: COIN_CODES }),
    ...LIST_OPTIONS,
  },
  columns: TOPUP_COLUMNS,
  example: 'skerry topup list --status pending',
  run: async (context, { sort, limit, ...filter }) => {
    const query = omitUndefined({ filter: omitUndefined(filter), sort }) as object;
    await showList(context, context.skerry.topups.list(query), limit, TOPUP_COLUMNS);
  },
});

const describe = command({
  name: 'topup describe',
  aliases: ['get', 'show'],
  about: 'Show a top-up, or wait until it is credited',
  operations: ['topups.get', 'balance.get'],
  args: { topup: arg('ID of the top-up', { completionKind: 'topup' }) },
  options: {
    qr: flag('Also show the address and amount as a QR code, while the payment is due'),
    wait: flag('Wait until the payment is credited'),
    timeout: integer('seconds', `With --wait: maximum time to wait (default: ${DEFAULT_TIMEOUT_S}, a day)`, {
      min: 1,
      max: TIMEOUT_MAX_S,
    }),
  },
  columns: TOPUP_COLUMNS,
  example: 'skerry topup describe top_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async (context, { topup: id, qr, wait, timeout }) => {
    const { skerry, terminal, output } = context;
    const topup = await skerry.topups.get(id);
    if (qr) showQr(terminal, topup);
    const waits = wait && topup.status !== 'credited';
    const show = (seen: Topup) => output.show(seen, TOPUP_COLUMNS);
    const last = waits
      ? await waitForCredit(context, topup, timeout, await getRemainingMs(context, topup), show)
      : topup;
    show(last);
    await noteOutcome(context, last);
  },
});

export const TOPUP_COMMANDS: readonly Command[] = [create, list, describe];

/** Prints to stderr in any mode: the user must know where to pay. */
function showPayment(terminal: Terminal, topup: Topup, noQr: boolean): void {
  for (const line of paymentInstructions(topup)) terminal.warn(line);
  terminal.warn('');
  // The QR code comes last, so that it is fully visible on a terminal with 24 lines.
  if (!noQr) showQr(terminal, topup);
}

/** Returns the time until the rate expires; null if no one watches, or if the service's clock is unknown. */
async function getRemainingMs({ skerry, terminal, signal }: Context, topup: Topup): Promise<number | null> {
  if (!terminal.showsNotes || topup.status !== 'pending') return null;
  const now = await fetchServiceTime(skerry, signal);
  return now && Date.parse(topup.expires_at) - now.getTime();
}

/** Describes the outcome for a person. The service's clock matters only if the amount differs. */
async function noteOutcome({ skerry, terminal, signal }: Context, topup: Topup): Promise<void> {
  if (!terminal.showsNotes) return;
  const now = overpaidUsd(topup) === 0 ? null : await fetchServiceTime(skerry, signal);
  for (const line of describeOutcome(topup, now)) terminal.note(line);
}

/** Shown only while the payment is due: scanning it makes a payment right away. */
function showQr({ showsNotes, stderr, warn }: Terminal, { status, payment_uri }: Topup): void {
  if (!showsNotes || process.env.TERM === 'dumb') return;
  if (status !== 'pending') {
    warn(`No QR code: the top-up is ${status}.`);
    return;
  }
  const lines = qrLines(payment_uri, stderr.columns || 0);
  if (lines === null) warn('The terminal is too narrow for a QR code.');
  else stderr.write(`${lines.join('\n')}\n\n`);
}
