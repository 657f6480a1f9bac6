/** The schema of the package: Pulumi checks programs with it, and generates SDKs from it. */
import { RESOURCES } from './resources/index.ts';
import { FLAG, INTEGER, type Input, type Output, type Shape, TEXT } from './resources/resource.ts';

const property = ({ shape, about }: Output) => ({ ...shape, description: about });

function inputProperty(input: Input): Shape {
  return {
    ...property(input),
    ...(input.secret ? { secret: true } : {}),
    ...(input.change === 'replace' ? { willReplaceOnChanges: true } : {}),
  };
}

const mapValues = <T>(record: Readonly<Record<string, T>>, to: (value: T) => Shape) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));

export const CONFIG = {
  apiUrl: { shape: TEXT, about: 'Address of the host.', env: 'SKERRY_API_URL', secret: false },
  token: { shape: TEXT, about: 'API token of scope `write`.', env: 'SKERRY_TOKEN', secret: true },
} as const;

const CONFIG_PROPERTIES = mapValues(CONFIG, ({ env, secret, ...one }) => ({
  ...property(one),
  ...(secret ? { secret } : {}),
  defaultInfo: { environment: [env] },
}));

const TYPES = {
  'skerry:index:Protection': {
    type: 'object',
    description: 'Protection from mistakes.',
    properties: {
      delete: { ...FLAG, description: 'Whether the resource cannot be deleted.' },
      rebuild: { ...FLAG, description: 'Servers only: whether the disk cannot be erased.' },
    },
  },
  'skerry:index:Backups': {
    type: 'object',
    description: 'Backups of a server on a schedule.',
    properties: {
      enabled: { ...FLAG, description: 'Whether the server is backed up.' },
      every: { ...TEXT, description: '`day` or `week`.' },
      weekday: { ...TEXT, description: 'For weekly backups, such as `sunday`.' },
      hourUtc: { ...INTEGER, description: 'Hour of the day in UTC in which a backup starts.' },
      keep: { ...INTEGER, description: 'Number of backups to keep.' },
    },
    required: ['enabled'],
  },
  'skerry:index:Rdns': {
    type: 'object',
    description: 'Host names of the addresses of a server.',
    properties: {
      ipv4: { ...TEXT, description: 'Host name of the IPv4 address.' },
      ipv6: { ...TEXT, description: 'Host name of the IPv6 address.' },
    },
  },
  'skerry:index:FirewallRule': {
    type: 'object',
    description: 'A rule of a firewall group.',
    properties: {
      direction: { ...TEXT, description: '`in` or `out`.' },
      proto: { ...TEXT, description: '`tcp`, `udp`, `icmp`, or `any`.' },
      port: {
        ...TEXT,
        description: 'A port, a comma-separated list, or a range. Every port if you omit it.',
      },
      source: { ...TEXT, description: 'CIDR of the remote address.' },
      action: { ...TEXT, description: '`accept`, `drop`, or `reject`.' },
      note: { ...TEXT, description: 'A comment.' },
    },
    required: ['direction', 'proto', 'source', 'action'],
  },
};

export function packageSchema(version: string): string {
  const resources = RESOURCES.map(({ type, about, inputs, outputs }) => [
    type,
    {
      description: about,
      inputProperties: mapValues(inputs, inputProperty),
      requiredInputs: Object.keys(inputs).filter((name) => inputs[name]?.required),
      properties: { ...mapValues(inputs, inputProperty), ...mapValues(outputs, property) },
      required: Object.keys(inputs).filter((name) => inputs[name]?.required),
    },
  ]);
  return JSON.stringify({
    name: 'skerry',
    displayName: 'Skerry',
    version,
    description: 'Servers, volumes, SSH keys, firewall groups, snapshots, and alerts of a Skerry host.',
    keywords: ['category/infrastructure', 'kind/native'],
    license: 'Apache-2.0',
    config: { variables: CONFIG_PROPERTIES },
    provider: { inputProperties: CONFIG_PROPERTIES },
    types: TYPES,
    resources: Object.fromEntries(resources),
  });
}
