/** Generates files of one project, like successive edits by a person. */
import fc from 'fast-check';
import type { Actual } from '../../../../packages/cli/src/apply/actual.ts';
import type { Desired } from '../../../../packages/cli/src/apply/desired.ts';
import { checkReferences } from '../../../../packages/cli/src/apply/file/references.ts';

const REGIONS = ['par', 'zrh'] as const;
const SERVERS = ['web-1', 'web-2', 'db'] as const;
const IMAGES = ['img_1', 'img_2', 'img_3'] as const;

const cycle = { billing_months: 1, discount_percent: 0, price_usd: 5 } as const;
/** An empty account, with plans, images, and regions. */
export const EMPTY_ACCOUNT: Actual = {
  servers: [],
  volumes: [],
  groups: [],
  keys: [],
  alerts: [],
  snapshots: [],
  images: IMAGES.map((id, at) => ({
    id,
    family: at === 0 ? 'alpine' : 'debian',
    version: String(11 + at),
    cloud_init: true,
    released_at: `2025-01-0${at + 1}`,
    deprecated_at: null,
  })),
  plans: ['s1', 's2'].map((id) => ({
    id,
    cycles: [cycle, { ...cycle, billing_months: 12, price_usd: 30 }],
    available_in: [...REGIONS],
  })),
  regions: REGIONS.map((id) => ({ id })),
};

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const word = fc.constantFrom('a', 'b', 'c');
const userData = fc
  .constantFrom('111111111111', '222222222222')
  .map((digest) => ({ base64: 'aGVsbG8=', digest }));
const host = fc.option(fc.constantFrom('a.example.org', 'b.example.org'));
const schedule = fc.constantFrom({}, { every: 'day' }, { every: 'week', weekday: 'sunday' });
const backups = fc
  .tuple(schedule, fc.constantFrom({}, { enabled: false }, { enabled: true }, { keep: 3 }, { hour_utc: 5 }))
  .map(([every, others]) => ({ ...every, ...others }));

const wantedServer = fc.record({
  absent: fc.constant(false as const),
  plan: fc.constantFrom('s1', 's2'),
  region: fc.constantFrom(...REGIONS),
  image: fc.constantFrom('img_1', 'debian', 'debian-12', 'alpine', 'alpine-11'),
  sshKeys: fc.uniqueArray(fc.constantFrom('laptop', 'desk'), { minLength: 1 }),
  tags: maybe(fc.uniqueArray(word)),
  labels: maybe(fc.dictionary(word, word)),
  userData: maybe(fc.option(userData)),
  billingMonths: maybe(fc.constantFrom(1, 12)),
  autoRenew: maybe(fc.boolean()),
  // A plan that destroys something protected is refused.
  protection: maybe(fc.constantFrom({ delete: false }, { rebuild: false })),
  backups: maybe(backups),
  start: maybe(fc.boolean()),
  volumes: fc.constant(undefined),
  rdns: fc.record({ ipv4: maybe(host), ipv6: maybe(host) }),
});
const wantedVolume = fc.record({
  absent: fc.constant(false as const),
  region: fc.constantFrom(...REGIONS),
  sizeGb: fc.integer({ min: 10, max: 12 }),
  encrypted: fc.constant(undefined),
  filesystem: fc.constant(undefined),
  protection: fc.constant(undefined),
  server: maybe(fc.option(fc.constantFrom(...SERVERS))),
});
const rule = fc.record({
  direction: fc.constantFrom('in', 'out'),
  proto: fc.constant('tcp'),
  port: fc.option(fc.constantFrom('80', '443')),
  source: fc.constantFrom('0.0.0.0/0', '::/0'),
  action: fc.constantFrom('accept', 'drop'),
  note: fc.option(word),
});
const wantedGroup = fc.record({
  absent: fc.constant(false as const),
  defaultAction: fc.constantFrom('drop', 'accept'),
  rules: maybe(fc.array(rule, { maxLength: 3 })),
  servers: maybe(fc.uniqueArray(fc.constantFrom(...SERVERS))),
});
const unreachable = { metric: fc.constant('unreachable'), compare: fc.constant(undefined) };
const watched = fc.oneof(
  fc.record({ servers: fc.uniqueArray(fc.constantFrom(...SERVERS), { minLength: 1 }) }),
  fc.record({ labelSelector: fc.constantFrom('', 'a=b', 'a=b,c=a') }),
);
const wantedAlert = fc
  .tuple(
    fc.oneof(
      fc.record({ ...unreachable, value: fc.constant(undefined) }),
      fc.record({
        metric: fc.constantFrom('cpu_pct', 'net_out_bps'),
        compare: maybe(fc.constantFrom('gt', 'lt')),
        value: fc.constantFrom(1, 2),
      }),
    ),
    fc.record({ window: maybe(fc.constantFrom('5m', '1h')), enabled: maybe(fc.boolean()) }),
    watched,
  )
  .map(([rule, others, selection]) => ({ absent: false as const, ...rule, ...others, ...selection }));
const absent = fc.constant({ absent: true as const });

function named<T extends object>(names: readonly string[], one: fc.Arbitrary<T>) {
  const items = names.map((name) => maybe(one.map((item) => ({ ...item, name, place: name }))));
  return fc.tuple(...items).map((found) => found.filter((item) => item !== undefined));
}

/** Valid files: a volume is in the region of its server, and all referenced servers exist. */
export const desiredFile = fc
  .record({
    servers: named(
      SERVERS,
      fc.oneof({ weight: 4, arbitrary: wantedServer }, { weight: 1, arbitrary: absent }),
    ),
    volumes: named(
      ['data', 'logs'],
      fc.oneof({ weight: 4, arbitrary: wantedVolume }, { weight: 1, arbitrary: absent }),
    ),
    groups: named(
      ['web', 'ssh'],
      fc.oneof({ weight: 4, arbitrary: wantedGroup }, { weight: 1, arbitrary: absent }),
    ),
    alerts: named(
      ['hot', 'down'],
      fc.oneof({ weight: 4, arbitrary: wantedAlert }, { weight: 1, arbitrary: absent }),
    ),
  })
  .map(
    (items) =>
      ({
        project: 'shop',
        sshKeys: ['laptop', 'desk'].map((name) => ({
          name,
          place: name,
          publicKey: name,
          fingerprint: name,
        })),
        ...items,
      }) as unknown as Desired,
  )
  .filter((desired) => checkReferences(desired, new Set()).length === 0);
