/** Plan (SPEC "Plan") and region (SPEC "Region"). */
import { type Static, Type } from 'typebox';
import { CYCLE_MONTHS, type CycleMonths, LIMITS } from '../limits.ts';
import { nullable, oneOf, Usd } from './parts.ts';

export const PLAN_CATEGORIES = ['vps', 'dedicated'] as const;

/** Price of a cycle ordered now. */
export const PlanCycle = Type.Object(
  {
    billing_months: Type.Unsafe<CycleMonths>({ type: 'integer', enum: [...CYCLE_MONTHS] }),
    discount_percent: Type.Integer(),
    price_usd: Type.Number({ description: 'US dollars for all months, discounted and rounded.' }),
  },
  { examples: [{ billing_months: 3, discount_percent: 25, price_usd: 16.54 }] },
);
export type PlanCycle = Static<typeof PlanCycle>;

export const Plan = Type.Object({
  id: Type.String({ examples: ['s1'] }),
  object: Type.Literal('plan'),
  category: oneOf(PLAN_CATEGORIES),
  cpu: Type.Integer({ description: 'vCPUs (vps) or physical cores (dedicated).' }),
  cpu_model: Type.String(),
  ram_mb: Type.Integer({ description: 'MiB.' }),
  disk_gb: Type.Integer({ description: 'NVMe GiB.' }),
  transfer_tb: Type.Number({ description: 'Outbound TiB per month; inbound traffic is not metered.' }),
  price_usd_month: Usd,
  price_usd_hour: Type.Number({ description: 'Price per month / 730, two decimals. For comparison only.' }),
  price_usd_hour_exact: Type.String({
    description: 'Price per hour with eight decimals.',
    examples: ['0.01006849'],
  }),
  cycles: Type.Array(PlanCycle, {
    description: 'Price of an order for each cycle, charged now, to the cent.',
  }),
  backup_percent: Type.Integer({
    description:
      'The price of backups, in percent of the price of the plan for each cycle, rounded up to the cent. ' +
      '0: they are free.',
  }),
  available_in: Type.Array(Type.String(), { description: 'Regions where you can deploy it right now.' }),
});
export type Plan = Static<typeof Plan>;

export const Region = Type.Object({
  id: Type.String({ examples: ['par'] }),
  object: Type.Literal('region'),
  name: Type.String(),
  country: Type.String({ description: 'ISO 3166-1 alpha-2.', examples: ['FR'] }),
  pop_id: Type.String(),
  available: Type.Boolean({ description: 'Whether you can deploy at least one plan right now.' }),
  ipv4_pool_remaining: Type.Integer({
    description: `Free IPv4 addresses; below ${LIMITS.ipv4PoolWarning}, deployments may stall.`,
  }),
  tor_onion: nullable(Type.String()),
});
export type Region = Static<typeof Region>;
