/** Plan (SPEC "Plan"). */
import { type Static, Type } from 'typebox';
import { oneOf, Usd } from './parts.ts';

export const PLAN_CATEGORIES = ['vps', 'dedicated'] as const;

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
  available_in: Type.Array(Type.String(), { description: 'Regions where it can be deployed right now.' }),
});
export type Plan = Static<typeof Plan>;
