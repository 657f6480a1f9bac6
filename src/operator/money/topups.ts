/** `topups list`, `show`, `held`, `release`, `refund`: top-ups, and payments withheld by the kill-switch. */
import { type Command, Option } from 'commander';
import { systemActor } from '../../domain/record.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { toTopupObject, toTopupWithPayments } from '../../domain/staff/topups.ts';
import {
  findTopupForOperator,
  listTopupsForOperator,
  type TopupQuery,
} from '../../domain/topups/operator.ts';
import { type RefundOrder, refundTopup } from '../../domain/topups/settlement/refund.ts';
import { type ResolvedTopup, releaseTopup } from '../../domain/topups/settlement/withheld.ts';
import { formatCents } from '../../kernel/money.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { COIN_CODES } from '../../spec/coins.ts';
import { TOPUP_NOTES } from '../../spec/staff/payments.ts';
import { TOPUP_STATUSES } from '../../spec/states.ts';
import { listWithheldTopups } from '../../store/topups/operator.ts';
import type { OperatorContext } from '../context.ts';
import { addList, formatFacts, formatMoreHint } from '../format/table.ts';
import {
  formatCoinAmount,
  paymentColumns,
  refundFacts,
  TOPUP_HEADING,
  topupColumns,
  topupFacts,
} from '../format/topup.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const NAME_HELP = 'An order_ref, top_…, the deposit address, or the txid of a payment';

export function addTopups(program: Command, context: OperatorContext): void {
  const topups = program
    .command('topups')
    .description('Manage top-ups, including payments withheld while topup-credit was off');
  addQueries(topups, context);
  addResolutions(topups, context);
}

function addQueries(topups: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  topups
    .command('list')
    .option('--customer <email>', 'Only top-ups of this customer')
    .addOption(new Option('--status <word>', 'Only this status').choices(TOPUP_STATUSES))
    .addOption(new Option('--note <word>', 'Only those that need you, or ended so').choices(TOPUP_NOTES))
    .addOption(new Option('--coin <code>', 'Only this coin').choices(COIN_CODES))
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List top-ups, newest first')
    .action(async (query: TopupQuery) => {
      const { service } = await resources.service();
      const result = await listTopupsForOperator(service, query);
      terminal.table(TOPUP_HEADING, result.topups.map(topupColumns));
      terminal.document(result.topups.map(toTopupObject));
      if (result.more) terminal.err(formatMoreHint(result.topups.length, 'top-up'));
    });
  topups
    .command('show')
    .argument('<name>', NAME_HELP)
    .description('Show one top-up and its payments')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const found = await findTopupForOperator(service, name);
      const { topup, payments, refunds } = found;
      terminal.facts(topupFacts(topup));
      const rows = payments.map((payment) => paymentColumns(payment, refunds));
      terminal.out('');
      const heading = ['paid', 'state', 'confirmations', 'seen (UTC)', 'outcome', 'transaction'];
      terminal.table(heading, rows);
      for (const refund of refunds) {
        const lines = formatFacts(refundFacts(refund, topup.coin));
        if (lines.length > 0) terminal.out('');
        for (const line of lines) terminal.out(line);
      }
      terminal.document(toTopupWithPayments(found));
    });
  addList(topups, context, {
    name: 'held',
    about: 'List top-ups with withheld payments or pending refunds, oldest first',
    heading: ['order_ref', 'customer', 'withheld', 'refund pending', 'created (UTC)'],
    read: async (service) =>
      (await listWithheldTopups(service.db)).map((row) => [
        row.order_ref,
        row.email,
        row.withheld_units === '0' ? '' : formatCoinAmount(row.withheld_units, row.coin),
        row.unsent_units === '0' ? '' : formatCoinAmount(row.unsent_units, row.coin),
        formatSessionTime(row.created_at),
      ]),
  });
}

function addResolutions(topups: Command, { resources, terminal }: OperatorContext): void {
  topups
    .command('release')
    .argument('<order_ref>', `Or ${NAME_HELP.slice(NAME_HELP.indexOf('top_'))}`)
    .description('Credit the withheld payments of a top-up')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const { topup } = await findTopupForOperator(service, name);
      const target = { kind: 'topup', name } as const;
      const released = await recordCommandOn(service, 'topups.release', target, () =>
        releaseTopup(service, systemActor(service.clock.now()), topup.id),
      );
      terminal.out(`released ${formatResolved(released)}; ${describeCredit(released)}`);
    });
  topups
    .command('refund')
    .argument('<order_ref>', `Or ${NAME_HELP.slice(NAME_HELP.indexOf('top_'))}`)
    .option('--to <address>', 'Address that the customer wants the coins sent to')
    .option('--approved-by <name>', 'Person who approved the refund')
    .option('--txid <id>', 'Transaction that sent the coins; may be recorded later with the same command')
    .option('--note <text>', 'Internal note')
    .description('Record a refund of withheld payments, which you send yourself; they are never credited')
    .action(async (name: string, order: RefundOrder) => {
      const { service } = await resources.service();
      const { topup } = await findTopupForOperator(service, name);
      const actor = systemActor(service.clock.now());
      const isSent = order.to === undefined && order.approvedBy === undefined;
      const operation = isSent ? 'topups.mark_refunded' : 'topups.refund';
      const refunded = await recordCommandOn(service, operation, { kind: 'topup', name }, () =>
        refundTopup(service, actor, topup.id, order),
      );
      const { address, txid } = refunded.refund;
      if (txid !== null)
        terminal.out(`recorded as refunded: ${formatResolved(refunded)}; ${describeCredit(refunded)}`);
      else {
        terminal.out(`approved: send ${formatResolved(refunded)} to ${address}; ${describeCredit(refunded)}`);
        terminal.out(`after sending, record it: skerryd topups refund ${topup.order_ref} --txid …`);
      }
    });
}

function formatResolved({ resolvedUnits, coin }: ResolvedTopup): string {
  return formatCoinAmount(resolvedUnits, coin);
}

function describeCredit({ status, credited_cents, bonus_paid_cents }: ResolvedTopup): string {
  const bonus = bonus_paid_cents > 0n ? ` and a bonus of ${formatCents(bonus_paid_cents)} USD` : '';
  return `the top-up is ${status}; credited: ${formatCents(credited_cents)} USD${bonus}`;
}
