/** `topups list`, `topups show`; `topups held`, `release`, `refund`: payments that came while the kill-switch was on. */
import { type Command, Option } from 'commander';
import { systemActor } from '../domain/record.ts';
import { findTopupForOperator, listTopupsForOperator, type TopupQuery } from '../domain/topups/desk.ts';
import { type Resolved, releaseTopup } from '../domain/topups/held.ts';
import { type RefundOrder, refundTopup } from '../domain/topups/refund.ts';
import { centsText } from '../kernel/money.ts';
import { sessionTime } from '../kernel/time.ts';
import { COIN_CODES } from '../spec/coins.ts';
import { TOPUP_STATUSES } from '../spec/states.ts';
import { listHeldTopups } from '../store/held-topups.ts';
import type { OperatorContext } from './context.ts';
import { wholeAboveZero } from './options.ts';
import { facts, table, tellMore } from './table.ts';
import {
  coinText,
  paymentColumns,
  refundFacts,
  TOPUP_HEADING,
  topupColumns,
  topupFacts,
} from './topup-text.ts';

const LIMIT = 100;
const NAME = 'an order_ref, top_…, the address to be paid, or a transaction that paid';

export function addTopups(program: Command, context: OperatorContext): void {
  const topups = program
    .command('topups')
    .description('customers’ top-ups, and what the kill-switch held back');
  addLooks(topups, context);
  addDecisions(topups, context);
}

function addLooks(topups: Command, { doors, terminal }: OperatorContext): void {
  topups
    .command('list')
    .option('--customer <email>', 'only this customer’s')
    .addOption(new Option('--status <word>', 'only in this status').choices(TOPUP_STATUSES))
    .addOption(new Option('--coin <code>', 'only in this coin').choices(COIN_CODES))
    .option('--limit <count>', `how many, default ${LIMIT}`, wholeAboveZero, LIMIT)
    .description('print top-ups, newest first')
    .action(async (query: TopupQuery) => {
      const { service } = await doors.service();
      const found = await listTopupsForOperator(service, query);
      for (const line of table([TOPUP_HEADING, ...found.topups.map(topupColumns)])) terminal.out(line);
      if (found.more) terminal.err(tellMore(found.topups.length, 'top-up'));
    });
  topups
    .command('show')
    .argument('<name>', NAME)
    .description('print all about one top-up and what paid it')
    .action(async (name: string) => {
      const { service } = await doors.service();
      const { topup, payments, refunds } = await findTopupForOperator(service, name);
      for (const line of facts(topupFacts(topup))) terminal.out(line);
      const rows = payments.map((payment) => paymentColumns(payment, refunds));
      terminal.out('');
      const heading = ['paid', 'state', 'confirmations', 'seen (UTC)', 'what became of it', 'transaction'];
      for (const line of table([heading, ...rows])) terminal.out(line);
      for (const refund of refunds) {
        const lines = facts(refundFacts(refund, topup.coin));
        if (lines.length > 0) terminal.out('');
        for (const line of lines) terminal.out(line);
      }
    });
  topups
    .command('held')
    .description('print top-ups with held payments, or with some to be sent back, oldest first')
    .action(async () => {
      const { service } = await doors.service();
      const rows = (await listHeldTopups(service.db)).map((row) => [
        row.order_ref,
        row.email,
        row.held_units === '0' ? '' : coinText(row.held_units, row.coin),
        row.unsent_units === '0' ? '' : coinText(row.unsent_units, row.coin),
        sessionTime(row.created_at),
      ]);
      const heading = ['order_ref', 'customer', 'held', 'to be sent back', 'made (UTC)'];
      for (const line of table([heading, ...rows])) terminal.out(line);
    });
}

function addDecisions(topups: Command, { doors, terminal }: OperatorContext): void {
  topups
    .command('release')
    .argument('<order_ref>', `or ${NAME.slice(NAME.indexOf('top_'))}`)
    .description('credit the held payments of a top-up')
    .action(async (name: string) => {
      const { service } = await doors.service();
      const { topup } = await findTopupForOperator(service, name);
      const released = await releaseTopup(service, systemActor(service.clock.now()), topup.id);
      terminal.out(`released ${decided(released)}; ${creditText(released)}`);
    });
  topups
    .command('refund')
    .argument('<order_ref>', `or ${NAME.slice(NAME.indexOf('top_'))}`)
    .option('--to <address>', 'where the customer wants the coins')
    .option('--approved-by <name>', 'who allowed it')
    .option('--txid <id>', 'what sent them; may be noted later, by the same command')
    .option('--note <text>', 'kept with it')
    .description('note that held payments are sent back, which is done elsewhere: they are never credited')
    .action(async (name: string, order: RefundOrder) => {
      const { service } = await doors.service();
      const { topup } = await findTopupForOperator(service, name);
      const actor = systemActor(service.clock.now());
      const refunded = await refundTopup(service, actor, topup.id, order);
      const { address, txid } = refunded.refund;
      if (txid !== null) terminal.out(`noted as sent back: ${decided(refunded)}; ${creditText(refunded)}`);
      else {
        terminal.out(`approved: send ${decided(refunded)} to ${address}; ${creditText(refunded)}`);
        terminal.out(`once they are sent: skerryd topups refund ${topup.order_ref} --txid …`);
      }
    });
}

function decided({ resolvedUnits, coin }: Resolved): string {
  return coinText(resolvedUnits, coin);
}

function creditText({ status, credited_cents, bonus_paid_cents }: Resolved): string {
  const bonus = bonus_paid_cents > 0n ? ` and a bonus of ${centsText(bonus_paid_cents)} USD` : '';
  return `the top-up is ${status}, ${centsText(credited_cents)} USD${bonus} of it on the balance`;
}
