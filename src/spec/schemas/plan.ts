/** Plan (SPEC "Plan"). */
import { type Static, Type } from 'typebox';
import { CYCLE_MONTHS, type CycleMonths } from '../limits.ts';
import { oneOf, Usd } from './parts.ts';

export const PLAN_CATEGORIES = ['vps', 'dedicated'] as const;

/** What a cycle costs whoever orders it now. */
export const PlanCycle = Type.Object(
  {
    billing_months: Type.Unsafe<CycleMonths>({ type: 'integer', enum: [...CYCLE_MONTHS] }),
    discount_percent: Type.Integer(),
    price_usd: Type.Number({ description: 'US dollars for all its months, discounted and rounded.' }),
  },
  { examples: [{ billing_months: 3, discount_percent: 25, price_usd: 16.54 }] },
);
export type PlanCycle = Static<typeof PlanCycle>;

export const Plan = Type.Object({
  id: Type.String({ examples: ['s1'] }),
  object: Type.Literal('plan'),
  category: oneOf(PLAN_CATEGORIES),
  cpu: Type.Integer({ description: 'Virtual processors (vps) or physical cores (dedicated).' }),
  cpu_model: Type.String(),
  ram_mb: Type.Integer({ description: 'MiB.' }),
  disk_gb: Type.Integer({ description: 'NVMe GiB.' }),
  transfer_tb: Type.Number({ description: 'Outbound TiB a month; inbound is not metered.' }),
  price_usd_month: Usd,
  price_usd_hour: Type.Number({ description: 'A month / 730, two decimals; for comparison only.' }),
  price_usd_hour_exact: Type.String({
    description: 'The same with eight decimals.',
    examples: ['0.01006849'],
  }),
  cycles: Type.Array(PlanCycle, {
    description: 'What an order of each cycle is charged now, to the cent.',
  }),
  available_in: Type.Array(Type.String(), { description: 'Regions where it can be deployed right now.' }),
});
export type Plan = Static<typeof Plan>;
