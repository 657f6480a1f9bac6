/** The limits of an API token (API 1.7). */
import { type Static, Type } from 'typebox';
import { LIMIT_OPERATIONS, LIMIT_RESOURCES_MAX, SPEND_PERIODS } from '../token-limits.ts';
import { LabelSelector, nullable, oneOf } from './parts.ts';

const ABOUT = {
  ip_cidrs: 'Networks that may use it. Stored sealed, and left out of events.',
  operations: 'Operations that it may run. A new operation of the API is not among them.',
  resources: 'Servers, volumes, snapshots, custom images, SSH keys, and firewall groups that it can reach.',
  label_selector: 'It can also reach servers, volumes, and snapshots with all of these labels.',
  regions: 'Regions whose servers, volumes, and snapshots it can reach.',
  spend_usd:
    'The most that it and the tokens that it created may spend, in US dollars. Renewals do not count.',
  spend_period: 'Whether `spend_usd` is for the lifetime of the token, or for each calendar month in UTC.',
  max_servers: 'The number of existing servers that it and the tokens that it created have created.',
} as const;

const strings = (description: string, examples: readonly string[]) =>
  Type.Array(Type.String(), { description, examples: [[...examples]] });

export const ShownTokenLimits = Type.Object({
  ip_cidrs: Type.Optional(nullable(strings(ABOUT.ip_cidrs, ['203.0.113.0/24']))),
  operations: nullable(strings(ABOUT.operations, ['servers.list', 'servers.create'])),
  resources: nullable(strings(ABOUT.resources, ['srv_aaaqk3m7qzb5x2l6v4t7n8wyja'])),
  label_selector: nullable(Type.String({ description: ABOUT.label_selector, examples: ['env=ci'] })),
  regions: nullable(strings(ABOUT.regions, ['par'])),
  spend_usd: nullable(Type.Number({ description: ABOUT.spend_usd })),
  spend_period: oneOf(SPEND_PERIODS, { description: ABOUT.spend_period }),
  max_servers: nullable(Type.Integer({ description: ABOUT.max_servers })),
});
export type ShownTokenLimits = Static<typeof ShownTokenLimits>;

/** Texts that are looked up or parsed: an unknown one is not malformed. */
const list = (maxItems: number) =>
  Type.Optional(nullable(Type.Array(Type.String(), { minItems: 1, maxItems, uniqueItems: true })));

export const TokenLimitsBody = Type.Object(
  {
    ip_cidrs: list(50),
    operations: Type.Optional(
      nullable(
        Type.Array(oneOf(LIMIT_OPERATIONS), {
          minItems: 1,
          maxItems: LIMIT_OPERATIONS.length,
          uniqueItems: true,
        }),
      ),
    ),
    resources: list(LIMIT_RESOURCES_MAX),
    label_selector: Type.Optional(nullable({ ...LabelSelector, minLength: 1 })),
    regions: list(50),
    spend_usd: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1_000_000 }))),
    spend_period: Type.Optional(oneOf(SPEND_PERIODS)),
    max_servers: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 100_000 }))),
  },
  { additionalProperties: false },
);
export type TokenLimitsBody = Static<typeof TokenLimitsBody>;
