/** Server (SPEC "Server (`srv_`)", DECISIONS "Cycle in POST /servers"). */
import { type Static, Type } from 'typebox';
import { BOOT_ORDERS } from '../boot.ts';
import { CYCLE_MONTHS, type CycleMonths, LIMITS } from '../limits.ts';
import { PATTERNS } from '../patterns.ts';
import { SERVER_STATUSES, SUSPENDED_REASONS } from '../states.ts';
import { ActionSummary } from './action.ts';
import { OrderedBackups } from './backup-policy.ts';
import {
  Id,
  Labels,
  nullable,
  oneOf,
  PRICE_LIMITS,
  ServerProtection,
  ServerProtectionPatch,
  ShownLabels,
  Time,
  Usd,
} from './parts.ts';

const Host = nullable(Type.String({ description: 'Reverse DNS host name.', examples: ['web.example.org'] }));

const ServerIpv4 = Type.Object({
  address: Type.String({ examples: ['203.0.113.10'] }),
  gateway: Type.String({ examples: ['203.0.113.1'] }),
  rdns: Host,
});

const ServerIpv6 = Type.Object({
  address: Type.String({ description: 'The server’s address, `…::1`.', examples: ['2001:db8:0:1::1'] }),
  prefix: Type.String({ description: 'The routed /64 as a CIDR.', examples: ['2001:db8:0:1::/64'] }),
  rdns: Host,
  rdns_records: Type.Record(Type.String(), Type.String(), {
    description: 'Reverse DNS in the /64: address → host name.',
  }),
});

const BillingMonths = Type.Unsafe<CycleMonths>({
  type: 'integer',
  enum: [...CYCLE_MONTHS],
  description: 'Months paid in advance. 3, 6, and 12 are discounted.',
});
const Tags = Type.Array(
  Type.String({ minLength: 1, maxLength: LIMITS.nameMaxChars, pattern: PATTERNS.printable.pattern }),
  {
    description: 'Free-form words. Replaces the whole list.',
    examples: [['web', 'prod']],
  },
);
const Name = Type.String({
  minLength: 1,
  maxLength: LIMITS.nameMaxChars,
  pattern: PATTERNS.serverName.pattern,
  description: 'Need not be unique.',
  examples: ['web-1'],
});

const Boot = oneOf(BOOT_ORDERS, {
  description:
    'What boots first, from the next start or reboot on. `iso` needs an ISO image in the drive. It becomes ' +
    '`disk` when the image is ejected, and after a rebuild or restore.',
});

export const Server = Type.Object({
  id: Id('srv_'),
  object: Type.Literal('server'),
  name: Type.String(),
  status: oneOf(SERVER_STATUSES, {
    description:
      '`running`: powered on. After an install, rebuild, or restore, SSH has answered once, or the server ' +
      'ran for ten minutes without it. After `start`, `reboot`, or a resume, the system may still boot.',
  }),
  plan: Type.String(),
  region: Type.String(),
  image: Type.String(),
  iso: nullable(
    Type.String({
      description: 'Your image in the drive for ISO images; see PUT /servers/{id}/iso.',
      examples: ['custom_aaaqk3m7qzb5x2l6v4t7n8wyja'],
    }),
  ),
  boot: Boot,
  disk_gb: Type.Integer({ description: 'GiB. A resize may leave it below or above the disk of the plan.' }),
  ipv4: nullable(ServerIpv4),
  ipv6: nullable(ServerIpv6),
  ssh_keys: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  labels: ShownLabels,
  protection: ServerProtection,
  billing_months: Type.Integer(),
  auto_renew: Type.Boolean({ description: 'Whether the next cycle is charged when this one ends.' }),
  paid_until: { ...Time, description: 'End of the current cycle.' },
  price_usd_cycle: {
    ...Usd,
    description:
      'Price of the current cycle, backups included. The next cycle costs the same, unless a new price was ' +
      'announced 30 days before it.',
  },
  suspended_reason: nullable(
    oneOf(SUSPENDED_REASONS, {
      description:
        '`balance`: the balance did not cover the next cycle; it resumes automatically once it does. ' +
        '`not_renewed`: it was set not to renew; start it to resume. `operator`: frozen by the operator. ' +
        '`negative_balance`: a reversed payment left the balance negative; it resumes automatically at ' +
        'zero or more. After a grace period, with warnings by email, it is deleted.',
    }),
  ),
  action: nullable(ActionSummary),
  created_at: Time,
  updated_at: Time,
});
export type Server = Static<typeof Server>;

export const ServerBody = Type.Object(
  {
    name: Name,
    plan: Type.String({ examples: ['s1'] }),
    region: Type.String({ examples: ['par'] }),
    image: Type.String({ description: 'Id of an image, or of a ready snapshot of the region.' }),
    ssh_keys: Type.Array(Type.String(), { minItems: 1, description: 'Ids of SSH keys; see GET /ssh-keys.' }),
    tags: Type.Optional(Tags),
    labels: Type.Optional(Labels),
    user_data_b64: Type.Optional(
      nullable(
        Type.String({
          description:
            'cloud-init user data in Base64, at most 64 KiB decoded. We delete it after the install, ' +
            'except options such as `hostname` that cloud-init applies at every boot. `bootcmd` runs only ' +
            'during the install.',
        }),
      ),
    ),
    billing_months: Type.Optional(BillingMonths),
    auto_renew: Type.Optional(
      Type.Boolean({ description: 'Whether the next cycle is charged automatically. Default: true.' }),
    ),
    protection: Type.Optional(ServerProtectionPatch),
    start: Type.Optional(
      Type.Boolean({
        description: 'Whether the server is started. If not, it is `stopped`, and set up at its first start.',
      }),
    ),
    firewall_groups: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: LIMITS.firewallGroupsPerOrderMax,
        description:
          'Ids of firewall groups, in the order of evaluation. They are in force before the first packet.',
      }),
    ),
    volumes: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: LIMITS.volumesPerOrderMax,
        description: 'Ids of detached volumes of the region. They are attached once the server is installed.',
      }),
    ),
    backups: Type.Optional(OrderedBackups),
    ...PRICE_LIMITS,
  },
  { additionalProperties: false },
);
export type ServerBody = Static<typeof ServerBody>;

export const ServerPatch = Type.Object(
  {
    name: Type.Optional(Name),
    tags: Type.Optional(Tags),
    labels: Type.Optional(Labels),
    auto_renew: Type.Optional(Type.Boolean()),
    protection: Type.Optional(ServerProtectionPatch),
    boot: Type.Optional(Boot),
  },
  { additionalProperties: false },
);
export type ServerPatch = Static<typeof ServerPatch>;

const HostName = Type.String({
  minLength: 1,
  maxLength: LIMITS.hostNameMaxChars,
  pattern: PATTERNS.hostName.pattern,
  examples: ['web.example.org'],
});

export const RdnsBody = Type.Object(
  {
    ipv4: Type.Optional(nullable(HostName)),
    ipv6: Type.Optional(nullable(HostName)),
    address: Type.Optional(
      Type.String({
        maxLength: LIMITS.ipv6TextMaxChars,
        description: 'The address in the /64 that `ipv6` is for. Default: the server’s own.',
        examples: ['2001:db8:0:1::25'],
      }),
    ),
  },
  { additionalProperties: false, description: 'At least one of `ipv4` and `ipv6`; null removes the name.' },
);
export type RdnsBody = Static<typeof RdnsBody>;
