/** Example values for schemas: their own examples, or typical values for fields of that name. */
import type { Schema } from './document.ts';

const ID_LETTERS = 'aaaqk3m7qzb5x2l6v4t7n8wyja';

/** For fields without an example in the schema. */
const EXAMPLES_BY_FIELD: Readonly<Record<string, unknown>> = {
  name: 'web-1',
  plan: 's1',
  region: 'par',
  image: `img_${ID_LETTERS}`,
  server: `srv_${ID_LETTERS}`,
  snapshot: `snap_${ID_LETTERS}`,
  ssh_keys: [`k_${ID_LETTERS}`],
  tags: ['web'],
  labels: { env: 'production' },
  applied_to: [`srv_${ID_LETTERS}`],
  events: ['server.running'],
  rdns_records: {},
  billing_months: 1,
  auto_renew: true,
  has_more: false,
  size_gb: 100,
  price_usd_cycle: 7.35,
  price_usd_month: 7.35,
  price_usd_hour: 0.01,
  amount_usd: 100,
  bonus_usd: 30,
  credited_usd: 100,
  usd: 93.5,
  cpu: 1,
  cpu_model: 'AMD EPYC 9354P',
  ram_mb: 1024,
  disk_gb: 25,
  transfer_tb: 1,
  available_in: ['par', 'rkv'],
  country: 'FR',
  pop_id: 'PAR1',
  source: '0.0.0.0/0',
  port: '443',
  family: 'debian',
  version: '13',
  url: 'https://example.org/hooks',
  description: 's1 in par, 1 month',
  coin: 'LTC',
  network: 'Litecoin',
  deposit_amount: '1.17647059',
  rate_usd: '85',
};

const TIME = '2026-01-31T12:00:00Z';

export function exampleValue(schema: Schema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.examples?.length) return schema.examples[0];
  const types = [schema.type ?? 'object'].flat();
  if (schema.enum) return types.includes('null') ? null : schema.enum[0];
  if (types.includes('object')) return objectExample(schema, name);
  if (types.includes('null')) return null;
  if (Object.hasOwn(EXAMPLES_BY_FIELD, name)) return EXAMPLES_BY_FIELD[name];
  if (schema.default !== undefined) return schema.default;
  if (types.includes('array')) return arrayExample(schema, name);
  if (types.includes('boolean')) return false;
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? 1;
  return textExample(schema, name);
}

function objectExample({ properties, patternProperties, required }: Schema, name: string): unknown {
  if (!properties && Object.hasOwn(EXAMPLES_BY_FIELD, name)) return EXAMPLES_BY_FIELD[name];
  if (!properties && patternProperties) return {};
  const fields = Object.entries(properties ?? {});
  // If all fields are optional, show one: an event carries one resource.
  const shown = required === undefined ? fields.slice(0, 1) : fields;
  return Object.fromEntries(shown.map(([field, schema]) => [field, exampleValue(schema, field)]));
}

function arrayExample({ items = {}, minItems = 1 }: Schema, name: string): unknown[] {
  // A pair of numbers is a data point of a metric: time and value.
  if (minItems === 2) return [1_769_860_800, 12.5];
  return [exampleValue(items, name)];
}

function textExample({ format }: Schema, name: string): string {
  if (format === 'date-time') return TIME;
  if (format === 'date') return TIME.slice(0, 10);
  return name === 'id' ? ID_LETTERS : '…';
}
