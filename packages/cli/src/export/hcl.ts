/** HCL blocks, one for each resource. No tool of ours reads them. */
import { type ExportedAccount, escapeInvisible, protectionOf, rdnsOf, unlessEmpty } from './account.ts';

const HEADER = `# The account as HCL, for reading and as a starting point. IDs refer to the other blocks.
# It contains no secrets and no user data.
`;

type Attributes = Readonly<Record<string, unknown>>;

export function toHcl(account: ExportedAccount): string {
  const { keys, groups, servers, volumes, alerts } = account;
  const blocks = [
    ...keys.map(({ id, name, public_key }) => block('ssh_key', name, [attributes({ id, public_key })])),
    ...groups.map(({ id, name, default_action, rules }) => {
      const own = rules.map(({ id: _id, ...rule }) => nested('rule', rule));
      return block('firewall_group', name, [attributes({ id, default_action }), ...own]);
    }),
    ...servers.map((server) => {
      const { id, name, plan, region, image, billing_months, auto_renew, ipv6 } = server;
      const applied = groups.filter(({ applied_to }) => applied_to.includes(id)).map((group) => group.id);
      const values = attributes({
        ...{ id, plan, region, image, billing_months, auto_renew },
        ...{ ssh_keys: server.ssh_keys, firewall_groups: unlessEmpty(applied) },
        ...{ tags: unlessEmpty(server.tags), labels: unlessEmpty(server.labels) },
      });
      const records = unlessEmpty(ipv6?.rdns_records ?? {});
      const rdns = unlessEmpty({ ...rdnsOf(server), ...(records ? { ipv6_records: records } : {}) });
      return block('server', name, [
        values,
        nested('protection', protectionOf(server.protection)),
        nested('rdns', rdns),
      ]);
    }),
    ...volumes.map(
      ({ id, name, region, size_gb, encrypted, filesystem, attached_to, labels, protection }) => {
        const values = { id, region, size_gb, encrypted, filesystem, server: attached_to };
        return block('volume', name, [
          attributes({ ...values, labels: unlessEmpty(labels) }),
          nested('protection', protectionOf(protection)),
        ]);
      },
    ),
    ...alerts.map(({ name, object: _object, firing: _firing, created_at: _created, ...values }) =>
      block('alert', name, [attributes(values)]),
    ),
  ];
  return [HEADER, ...blocks].join('\n');
}

function block(kind: string, name: string, parts: readonly string[]): string {
  const body = parts.filter(Boolean).join('\n');
  return `${kind} ${quote(name)} {\n${indent(body)}}\n`;
}

function nested(kind: string, values: Attributes | undefined): string {
  return values ? `${kind} {\n${indent(attributes(values))}}\n` : '';
}

/** Leaves out attributes without a value. */
function attributes(values: Attributes): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, value]) => `${name.padEnd(width)} = ${format(value)}\n`).join('');
}

function format(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(format).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([name, one]) => `${quote(name)} = ${format(one)}`);
  return `{ ${entries.join(', ')} }`;
}

/** A quoted template: `${` and `%{` would start an expression. */
function quote(text: string): string {
  const quoted = escapeInvisible(text.replace(/["\\]/g, '\\$&')).replace(/[$%](?=\{)/g, '$&$&');
  return `"${quoted}"`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
