/** Accounts whose texts look like the syntax of a configuration file. */
import type { Alert, FirewallGroup, Server, SshKey, Volume } from '@skerry/sdk';
import fc from 'fast-check';
import type { ExportedAccount } from '../../../packages/cli/src/export/account.ts';
import { RULE } from '../../http/v1/contract/estate.ts';

const HOSTILE = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of HCL and of Pulumi.
  ...['${file("/etc/passwd")}', '$${a}', '$$$', '$', '%{ for x in y }', '%%{', '"', '\\', '\\"', "'"],
  ...['{{ lookup("pipe", "id") }}', '{% raw %}', '{# note #}', '{{', '!unsafe x', '# comment', '- item'],
  ...['key: value', '}\nserver "x" {', '"\n}\n', 'a\r\nb', '\t', '\u0000', '\u0085', '\u2028', '\ufeff'],
  ...['\u202e', '\u{e0001}', '😀', 'no', 'yes', '~', 'null', '1', '1e3', '0x1', '2026-01-01', '*a', '&a'],
  ...[
    '<<',
    '=',
    '---',
    '...',
    '%YAML 1.1',
    '@',
    '`',
    '[',
    '|',
    '>',
    ' leading',
    'trailing ',
    'e\u0301',
    '\u00e9',
  ],
];

export const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
);
/** As the API allows them. */
const labelKey = fc.oneof(
  fc.constantFrom('no', 'on', 'y', '1', '-', '_', 'e0', 'env', '1e3'),
  fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
);
const labels = fc.dictionary(labelKey, hostileText, { maxKeys: 4, noNullPrototype: true });

const rule = fc.record({ note: fc.option(hostileText), port: fc.constantFrom(null, '22', '80,443') });

/** Two servers, with the second one of everything sometimes under the name of the first. */
export const hostileAccount: fc.Arbitrary<ExportedAccount> = fc
  .record({
    names: fc.array(hostileText, { minLength: 8, maxLength: 8 }),
    labels: fc.array(labels, { minLength: 4, maxLength: 4 }),
    tags: fc.uniqueArray(hostileText, { maxLength: 3 }),
    rules: fc.array(rule, { maxLength: 3 }),
    filesystem: fc.option(hostileText),
    isShared: fc.boolean(),
  })
  .map(({ names, labels: sets, tags, rules, filesystem, isShared }) => {
    const name = (at: number) => names[isShared ? at - (at % 2) : at] ?? '';
    return {
      keys: [0, 1].map((at) => key(`k_${at}`, name(at))),
      groups: [0, 1].map((at) => group(`fwg_${at}`, name(2 + at), rules, ['srv_0', 'srv_1'].slice(at))),
      servers: [0, 1].map((at) => server(`srv_${at}`, name(4 + at), sets[at] ?? {}, tags)),
      volumes: [0, 1].map((at) =>
        volume(`vol_${at}`, name(6 + at), sets[2 + at] ?? {}, filesystem, at === 0 ? 'srv_0' : null),
      ),
      alerts: [alert('alr_0', name(0), ['srv_0', 'srv_1'], null), alert('alr_1', name(1), null, name(2))],
    };
  });

function alert(id: string, name: string, servers: string[] | null, label_selector: string | null): Alert {
  return {
    ...{ object: 'alert', id, name, metric: 'cpu_pct', compare: 'gt', value: 90.5, window: '5m' },
    ...{ servers, label_selector, enabled: true, firing: [], created_at: '2026-01-01T00:00:00Z' },
  } as Alert;
}

function key(id: string, name: string): SshKey {
  const created_at = '2026-01-01T00:00:00Z';
  const public_key = `ssh-ed25519 AAAA ${name}`;
  return {
    object: 'ssh_key',
    id,
    name,
    public_key,
    type: 'ssh-ed25519',
    fingerprint: `SHA256:${id}`,
    created_at,
  };
}

function group(id: string, name: string, rules: readonly object[], applied_to: string[]): FirewallGroup {
  const own = rules.map((one, at) => ({ ...RULE, ...one, id: `fwr_${at}` })) as FirewallGroup['rules'];
  const created_at = '2026-01-01T00:00:00Z';
  return { object: 'firewall_group', id, name, rules: own, applied_to, default_action: 'drop', created_at };
}

function server(id: string, name: string, set: Record<string, string>, tags: string[]): Server {
  return {
    ...{ object: 'server', id, name, status: 'running', plan: 's1', region: 'par', image: 'img_1' },
    ipv4: { address: '203.0.113.7', gateway: '203.0.113.1', rdns: 'a.example.org' },
    ipv6: { address: '2001:db8::1', prefix: '2001:db8::/64', rdns: null, rdns_records: {} },
    ...{ ssh_keys: ['k_0', 'k_1'], tags, labels: set, protection: { delete: true, rebuild: false } },
    ...{ billing_months: 1, auto_renew: false, paid_until: '2026-02-01T00:00:00Z', price_usd_cycle: 5 },
    ...{ suspended_reason: null, created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
  } as Server;
}

function volume(
  id: string,
  name: string,
  set: Record<string, string>,
  filesystem: string | null,
  attached_to: string | null,
): Volume {
  return {
    ...{
      object: 'volume',
      id,
      name,
      size_gb: 10,
      region: 'par',
      attached_to,
      device: null,
      encrypted: false,
    },
    ...{ filesystem, labels: set, lost_at: null, protection: { delete: false } },
    created_at: '2026-01-01T00:00:00Z',
  } as Volume;
}
