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
  about: 'Top up the balance: get an address to pay to, and wait until it is credited',
  help: `Coin and amount are asked for on a terminal when they are left out. Ctrl-C ends only the waiting: the top-up stays open.
When its time is over before it is paid, or when the operator holds credits, it leaves with 10. Needs a token of scope billing.`,
  operations: ['topups.create', 'topups.get', 'balance.get'],
  options: {
    coin: text('coin', `One of ${COIN_CODES.join(', ')}.`, { choices: COIN_CODES }),
    amountUsd: decimal('usd', `US dollars, ${TOPUP_MIN_USD} to ${TOPUP_MAX_USD}.`, {
      min: TOPUP_MIN_USD,
      max: TOPUP_MAX_USD,
    }),
    noQr: flag('Without the QR code.'),
    noWait: flag('Do not wait until it is credited.'),
    timeout: integer('seconds', `How long to wait at most; a day (${DEFAULT_TIMEOUT_S}) when left out.`, {
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
    // It was made this moment, by the service's clock.
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
    status: text('status', 'Only in this status.', { choices: STATUSES }),
    coin: text('coin', 'Only in this coin.', { choices: COIN_CODES }),
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
  about: 'Show all of a top-up, or wait until it is credited',
  operations: ['topups.get', 'balance.get'],
  args: { topup: arg('Its id.', { completionKind: 'topup' }) },
  options: {
    qr: flag('The address and the amount as a QR code, too, while it is to be paid.'),
    wait: flag('Wait until it is credited.'),
    timeout: integer(
      'seconds',
      `With --wait: how long at most; a day (${DEFAULT_TIMEOUT_S}) when left out.`,
      {
        min: 1,
        max: TIMEOUT_MAX_S,
      },
    ),
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

/** On stderr, and always: whoever waits must know where to pay. */
function showPayment(terminal: Terminal, topup: Topup, noQr: boolean): void {
  for (const line of paymentInstructions(topup)) terminal.warn(line);
  terminal.warn('');
  // Last: on a terminal of 24 lines it is what must be seen whole.
  if (!noQr) showQr(terminal, topup);
}

/** Until the rate is kept no longer; null: nobody watches, or the service's clock is not known. */
async function getRemainingMs({ skerry, terminal, signal }: Context, topup: Topup): Promise<number | null> {
  if (!terminal.showsNotes || topup.status !== 'pending') return null;
  const now = await fetchServiceTime(skerry, signal);
  return now && Date.parse(topup.expires_at) - now.getTime();
}

/** For a person; of the service's clock only what is not as it was asked depends. */
async function noteOutcome({ skerry, terminal, signal }: Context, topup: Topup): Promise<void> {
  if (!terminal.showsNotes) return;
  const now = overpaidUsd(topup) === 0 ? null : await fetchServiceTime(skerry, signal);
  for (const line of describeOutcome(topup, now)) terminal.note(line);
}

/** Only while it is to be paid: whoever scans it pays at once, and reads the rest later. */
function showQr({ showsNotes, stderr, warn }: Terminal, { status, payment_uri }: Topup): void {
  if (!showsNotes || process.env.TERM === 'dumb') return;
  if (status !== 'pending') {
    warn(`No QR code: the top-up is ${status}.`);
    return;
  }
  const lines = qrLines(payment_uri, stderr.columns || 0);
  if (lines === null) warn('The terminal is too narrow for the QR code.');
  else stderr.write(`${lines.join('\n')}\n\n`);
}
