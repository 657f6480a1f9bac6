import type { Skerry, Topup } from '@skerry/sdk';
import { encode } from 'uqr';
import { type Command, type Context, command } from '../../command.ts';
import { TOPUP_MAX_USD, TOPUP_MIN_USD } from '../../limits.ts';
import { listCommand } from '../../lists.ts';
import { arg, decimal, flag, integer, text } from '../../options.ts';
import { amounts, type Column, fields, hidden, times } from '../../output/format.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../../terminal/create-once.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { COIN_CODES, chooseAmount, chooseCoin } from './coins.ts';
import { describeOutcome, overpaidUsd, paymentInstructions } from './payment.ts';
import { DEFAULT_TIMEOUT_S, waitForCredit } from './wait-for-credit.ts';

const STATUSES = ['pending', 'confirming', 'credited', 'expired'] as const;
const TIMEOUT_MAX_S = 7 * 24 * 60 * 60;

const TOPUP_COLUMNS: readonly Column<Topup>[] = [
  ...fields<Topup>('id', 'status', 'coin'),
  ...hidden(fields<Topup>('network')),
  ...amounts<Topup>('amount_usd'),
  ...hidden(amounts<Topup>('bonus_usd')),
  ...amounts<Topup>('credited_usd'),
  ...hidden(fields<Topup>('deposit_address', 'deposit_amount', 'payment_uri', 'rate_usd')),
  ...hidden(fields<Topup>('confirmations', 'required_confirmations', 'txids', 'credit_held')),
  ...hidden(times<Topup>('expires_at', 'created_at')),
];

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
    const lookupCommand = ['skerry', 'topup', 'list', '--status', 'pending'];
    const asked = { key: idempotencyKey, subject: 'the top-up', lookupCommand };
    const topup = await createOnce(context, asked, (once) => skerry.topups.create(body, once));
    if (noWait && output.isMachineReadable) return output.show(topup, TOPUP_COLUMNS);
    showPayment(terminal, topup, noQr);
    // The top-up is new, so the service's clock is at `created_at`.
    const leftMs = Date.parse(topup.expires_at) - Date.parse(topup.created_at);
    const show = (seen: Topup) => output.show(seen, TOPUP_COLUMNS);
    const last = noWait ? topup : await waitForCredit(context, topup, timeout, leftMs, show);
    show(last);
    await noteOutcome(context, last);
  },
});

const list = listCommand({
  name: 'topup list',
  about: 'List top-ups',
  operations: ['topups.list'],
  options: {
    status: text('status', 'Filter by status', { choices: STATUSES }),
    coin: text('coin', 'Filter by coin', { choices: COIN_CODES }),
  },
  columns: TOPUP_COLUMNS,
  example: 'skerry topup list --status pending',
  list: (skerry, query) => skerry.topups.list(query),
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
    const show = (seen: Topup) => output.show(seen, TOPUP_COLUMNS);
    let last = topup;
    if (wait && topup.status !== 'credited') {
      const remainingMs = await getRemainingMs(context, topup);
      last = await waitForCredit(context, topup, timeout, remainingMs, show);
    }
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

const CLOCK_TIMEOUT_MS = 10_000;

/**
 * Reads the clock of the service: this machine's may be wrong, and a wrong clock could suggest an expired
 * rate. Null: no response. Only messages depend on the time, and the payment is shown in any case.
 */
async function fetchServiceTime(skerry: Skerry, signal: AbortSignal): Promise<Date | null> {
  try {
    return new Date((await skerry.balance.get({ signal, timeoutMs: CLOCK_TIMEOUT_MS })).as_of);
  } catch {
    return null;
  }
}

/** Width of the quiet zone in modules, as the QR standard requires. */
const QUIET_ZONE_MODULES = 4;
/**
 * Uses fixed palette numbers for black on white: the colors of a dark terminal or a theme would invert the
 * code, and some readers reject an inverted code.
 */
const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';
const BLOCKS = { 'true,true': '█', 'true,false': '▀', 'false,true': '▄', 'false,false': ' ' } as const;

/**
 * Draws a QR code with half-block characters: each character shows two modules, one above the other. Null:
 * the code is wider than the terminal and would wrap.
 */
function qrLines(text: string, columns: number): string[] | null {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_ZONE_MODULES });
  if (size > columns) return null;
  const lines: string[] = [];
  for (let y = 0; y < size; y += 2) {
    const blocks = (data[y] ?? []).map((upper, x) => BLOCKS[`${upper},${data[y + 1]?.[x] ?? false}`]);
    lines.push(`${BLACK_ON_WHITE}${blocks.join('')}${RESET}`);
  }
  return lines;
}
