/** `topups list`, `topups show`; `topups held`, `release`, `refund`: payments that came while the kill-switch was on. */
import { type Command, Option } from 'commander';
import { systemActor } from '../domain/record.ts';
import {
  findTopupForOperator,
  listTopupsForOperator,
  type TopupQuery,
} from '../domain/topups/operator-topups.ts';
import { type RefundOrder, refundTopup } from '../domain/topups/refund.ts';
import { type ResolvedTopup, releaseTopup } from '../domain/topups/withheld.ts';
import { formatCents } from '../kernel/money.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { COIN_CODES } from '../spec/coins.ts';
import { TOPUP_STATUSES } from '../spec/states.ts';
import { listWithheldTopups } from '../store/withheld-topups.ts';
import type { OperatorContext } from './context.ts';
import { parsePositiveInt } from './options.ts';
import { formatFacts, formatMoreHint, formatTable } from './table.ts';
import {
  formatCoinAmount,
  paymentColumns,
  refundFacts,
  TOPUP_HEADING,
  topupColumns,
  topupFacts,
} from './topup-format.ts';

const LIMIT = 100;
const NAME_HELP = 'an order_ref, top_…, the address to be paid, or a transaction that paid';

export function addTopups(program: Command, context: OperatorContext): void {
  const topups = program
    .command('topups')
    .description('customers’ top-ups, and what the kill-switch held back');
  addQueries(topups, context);
  addResolutions(topups, context);
}

function addQueries(topups: Command, { resources, terminal }: OperatorContext): void {
  topups
    .command('list')
    .option('--customer <email>', 'only this customer’s')
    .addOption(new Option('--status <word>', 'only in this status').choices(TOPUP_STATUSES))
    .addOption(new Option('--coin <code>', 'only in this coin').choices(COIN_CODES))
    .option('--limit <count>', `how many, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('print top-ups, newest first')
    .action(async (query: TopupQuery) => {
      const { service } = await resources.service();
      const result = await listTopupsForOperator(service, query);
      for (const line of formatTable([TOPUP_HEADING, ...result.topups.map(topupColumns)])) terminal.out(line);
      if (result.more) terminal.err(formatMoreHint(result.topups.length, 'top-up'));
    });
  topups
    .command('show')
    .argument('<name>', NAME_HELP)
    .description('print all about one top-up and what paid it')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const { topup, payments, refunds } = await findTopupForOperator(service, name);
      for (const line of formatFacts(topupFacts(topup))) terminal.out(line);
      const rows = payments.map((payment) => paymentColumns(payment, refunds));
      terminal.out('');
      const heading = ['paid', 'state', 'confirmations', 'seen (UTC)', 'what became of it', 'transaction'];
      for (const line of formatTable([heading, ...rows])) terminal.out(line);
      for (const refund of refunds) {
        const lines = formatFacts(refundFacts(refund, topup.coin));
        if (lines.length > 0) terminal.out('');
        for (const line of lines) terminal.out(line);
      }
    });
  topups
    .command('held')
    .description('print top-ups with held payments, or with some to be sent back, oldest first')
    .action(async () => {
      const { service } = await resources.service();
      const rows = (await listWithheldTopups(service.db)).map((row) => [
        row.order_ref,
        row.email,
        row.held_units === '0' ? '' : formatCoinAmount(row.held_units, row.coin),
        row.unsent_units === '0' ? '' : formatCoinAmount(row.unsent_units, row.coin),
        formatSessionTime(row.created_at),
      ]);
      const heading = ['order_ref', 'customer', 'held', 'to be sent back', 'made (UTC)'];
      for (const line of formatTable([heading, ...rows])) terminal.out(line);
    });
}

function addResolutions(topups: Command, { resources, terminal }: OperatorContext): void {
  topups
    .command('release')
    .argument('<order_ref>', `or ${NAME_HELP.slice(NAME_HELP.indexOf('top_'))}`)
    .description('credit the held payments of a top-up')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const { topup } = await findTopupForOperator(service, name);
      const released = await releaseTopup(service, systemActor(service.clock.now()), topup.id);
      terminal.out(`released ${formatResolved(released)}; ${describeCredit(released)}`);
    });
  topups
    .command('refund')
    .argument('<order_ref>', `or ${NAME_HELP.slice(NAME_HELP.indexOf('top_'))}`)
    .option('--to <address>', 'where the customer wants the coins')
    .option('--approved-by <name>', 'who allowed it')
    .option('--txid <id>', 'what sent them; may be noted later, by the same command')
    .option('--note <text>', 'kept with it')
    .description('note that held payments are sent back, which is done elsewhere: they are never credited')
    .action(async (name: string, order: RefundOrder) => {
      const { service } = await resources.service();
      const { topup } = await findTopupForOperator(service, name);
      const actor = systemActor(service.clock.now());
      const refunded = await refundTopup(service, actor, topup.id, order);
      const { address, txid } = refunded.refund;
      if (txid !== null)
        terminal.out(`noted as sent back: ${formatResolved(refunded)}; ${describeCredit(refunded)}`);
      else {
        terminal.out(`approved: send ${formatResolved(refunded)} to ${address}; ${describeCredit(refunded)}`);
        terminal.out(`once they are sent: skerryd topups refund ${topup.order_ref} --txid …`);
      }
    });
}

function formatResolved({ resolvedUnits, coin }: ResolvedTopup): string {
  return formatCoinAmount(resolvedUnits, coin);
}

function describeCredit({ status, credited_cents, bonus_paid_cents }: ResolvedTopup): string {
  const bonus = bonus_paid_cents > 0n ? ` and a bonus of ${formatCents(bonus_paid_cents)} USD` : '';
  return `the top-up is ${status}, ${formatCents(credited_cents)} USD${bonus} of it on the balance`;
}
