/** The plans for sale, and where each can be deployed right now. */
import { notFound } from '../../kernel/fail.ts';
import { centsToUsd, formatUnits, mulDiv } from '../../kernel/money.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Plan } from '../../spec/schemas/plan.ts';
import { findOfferedPlan, type OfferedPlanRow, pageOfferedPlans } from '../../store/catalogue/offers.ts';
import type { Service } from '../context.ts';
import { cyclePrices } from '../servers/billing/price.ts';
import { offeredNow } from './availability.ts';
import { readCode } from './code.ts';

/** The hours in a month (DECISIONS "Money in JSON"). */
const HOURS_PER_MONTH = 730n;
const EXACT_DECIMALS = 8;

export async function listPlans(
  service: Service,
  page: PageRequest,
): Promise<{ items: Plan[]; next: PagePosition | null }> {
  const { rows, next } = await pageOfferedPlans(service.db, offeredNow(service), page);
  return { items: rows.map(planObject), next };
}

/** Fails with `not_found` for plans that are no longer sold, too. */
export async function getPlan(service: Service, text: string): Promise<Plan> {
  const id = readCode(text) ?? notFound('plan');
  return planObject((await findOfferedPlan(service.db, offeredNow(service), id)) ?? notFound('plan'));
}

function planObject(row: OfferedPlanRow): Plan {
  const monthCents = row.price_cents_month;
  const hourUnits = mulDiv(monthCents * 10n ** BigInt(EXACT_DECIMALS - 2), 1n, HOURS_PER_MONTH, 'half_up');
  return {
    id: row.id,
    object: 'plan',
    category: row.category,
    cpu: row.cpu,
    cpu_model: row.cpu_model,
    ram_mb: row.ram_mb,
    disk_gb: row.disk_gb,
    transfer_tb: Number(row.transfer_tb),
    price_usd_month: centsToUsd(monthCents),
    price_usd_hour: centsToUsd(mulDiv(monthCents, 1n, HOURS_PER_MONTH, 'half_up')),
    price_usd_hour_exact: formatUnits(hourUnits, EXACT_DECIMALS, true),
    cycles: cyclePrices(monthCents),
    available_in: [...row.available_in],
  };
}
