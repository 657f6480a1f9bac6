/** `coupons list`, `show`, `create`, `end`: codes that add credit to a balance. */
import type { Command } from 'commander';
import {
  type CouponObject,
  type CouponOrder,
  createCoupon,
  endCoupon,
  findCouponId,
  listCoupons,
  readCoupon,
} from '../../domain/billing/coupons/manage.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { COUPON_LIMITS } from '../../spec/staff/coupons.ts';
import type { OperatorContext } from '../context.ts';
import { formatMoreHint } from '../format/table.ts';
import { parseAccountDays, parseCouponUses, parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const HEADING = ['coupon', 'USD', 'uses', 'state', 'until', 'note'];

interface CreateOptions {
  readonly uses: number;
  readonly expires?: string;
  readonly accountDays?: number;
  readonly note?: string;
}

export function addCoupons(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const coupons = program.command('coupons').description('Give credit by a code');
  coupons
    .command('list')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List coupons, newest first')
    .action(async (query: { readonly limit: number }) => {
      const { service } = await resources.service();
      const found = await listCoupons(service, query);
      terminal.table(HEADING, found.coupons.map(couponColumns));
      terminal.document(found.coupons);
      if (found.hasMore) terminal.err(formatMoreHint(found.coupons.length, 'coupon'));
    });
  coupons
    .command('show')
    .argument('<coupon>', 'Its code, or cpn_…')
    .description(`Show a coupon, and the latest ${COUPON_LIMITS.redemptionsShown} customers who used it`)
    .action(async (name: string) => {
      const { service } = await resources.service();
      const coupon = await readCoupon(service, await findCouponId(service, name));
      terminal.facts(couponFacts(coupon));
      const rows = coupon.redemptions.map((row) => [row.redeemed_at, row.customer]);
      if (rows.length > 0) terminal.table(['used', 'customer'], rows);
      terminal.document(coupon);
    });
  addCreate(coupons, context);
  coupons
    .command('end')
    .argument('<coupon>', 'Its code, or cpn_…')
    .description('End a coupon: no one can use it from now on')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const target = await findCouponId(service, name);
      await recordCommand(service, { operation: 'coupons.end', target }, () => endCoupon(service, target));
      terminal.out('the coupon has ended; credit that customers have stays');
    });
}

function addCreate(coupons: Command, { resources, terminal }: OperatorContext): void {
  coupons
    .command('create')
    .argument('<code>', 'Letters, digits, and dashes; case does not matter')
    .argument('<amount>', 'US dollars for each customer, such as 25.50')
    .requiredOption('--uses <count>', 'How many customers can use it', parseCouponUses)
    .option('--expires <day>', 'Last day, such as 2030-01-31, or a time; default: it does not expire')
    .option('--account-days <days>', 'Only for accounts younger than this', parseAccountDays)
    .option('--note <text>', 'For staff')
    .description('Create a coupon that each customer can use once')
    .action(async (code: string, amountUsd: string, options: CreateOptions) => {
      const { service } = await resources.service();
      const order: CouponOrder = {
        ...{ coupon_code: code, amount_usd: amountUsd, max_uses: options.uses },
        ...(options.expires !== undefined && { expires: options.expires }),
        ...(options.accountDays !== undefined && { account_days: options.accountDays }),
        ...(options.note !== undefined && { note: options.note }),
      };
      const created = await recordCommand(service, { operation: 'coupons.create', target: null }, () =>
        createCoupon(service, order),
      );
      terminal.facts(couponFacts(created));
      terminal.document(created);
    });
}

const until = (row: CouponObject): string => row.expires_at ?? 'no expiry';

function couponColumns(row: CouponObject): string[] {
  const uses = `${row.uses} of ${row.max_uses}`;
  return [row.code, row.amount_usd.toFixed(2), uses, row.state.replace('_', ' '), until(row), row.note];
}

function couponFacts(row: CouponObject): [string, string | null][] {
  return [
    ['coupon', `${row.code} (${row.id})`],
    ['state', row.state.replace('_', ' ')],
    ['amount', `${row.amount_usd.toFixed(2)} USD`],
    ['uses', `${row.uses} of ${row.max_uses}, ${row.credited_usd.toFixed(2)} USD credited`],
    ['for', row.account_days === null ? null : `accounts younger than ${row.account_days} days`],
    ['valid until', until(row)],
    ['note', row.note || null],
  ];
}
