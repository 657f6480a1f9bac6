/** SSH keys and firewall groups. */
import type {
  CreateFirewallGroup,
  CreateFirewallRule,
  CreateSshKey,
  FirewallGroup,
  UpdateFirewallGroup,
} from '@skerry/sdk';
import type { Values } from '../rpc/values.ts';
import { bodyOf, findOrNull, NAME, type Resource, type Shape, TEXT, typeRef } from './resource.ts';

export const sshKey: Resource = {
  type: 'skerry:index:SshKey',
  about: 'A public key for new servers. Servers that have the key keep it when it is deleted.',
  inputs: {
    name: { ...NAME, change: 'replace' },
    publicKey: { shape: TEXT, about: 'The line of a .pub file.', required: true, change: 'replace' },
  },
  outputs: { fingerprint: { shape: TEXT, about: 'Fingerprint, as `ssh-keygen -l` shows it.' } },
  create: async ({ skerry, signal }, inputs) => {
    const body = bodyOf<CreateSshKey>(inputs, ['name', 'publicKey']);
    const { id, fingerprint } = await skerry.sshKeys.create(body, { signal });
    return { id, state: { ...inputs, fingerprint } };
  },
  read: async ({ skerry, signal }, id, state) => {
    const found = await findOrNull(skerry.sshKeys.get(id, { signal }));
    if (found === null) return null;
    const { name, public_key: publicKey, fingerprint } = found;
    // A line break at the end is not a change.
    const given = state.publicKey;
    const isSame = typeof given === 'string' && given.trim() === publicKey;
    return { name, publicKey: isSame ? given : publicKey, fingerprint };
  },
  update: async () => {},
  delete: async ({ skerry, signal }, id) => {
    await findOrNull(skerry.sshKeys.delete(id, { signal }));
  },
};

const RULES: Shape = { type: 'array', items: typeRef('FirewallRule') };
const RULE_FIELDS = ['direction', 'proto', 'port', 'source', 'action', 'note'] as const;

export const firewallGroup: Resource = {
  type: 'skerry:index:FirewallGroup',
  about: 'A packet filter in front of servers. `firewallGroups` of a server applies it.',
  inputs: {
    name: NAME,
    defaultAction: {
      shape: TEXT,
      about: 'Action for packets that match no rule: `drop` or `accept`.',
      required: true,
      change: 'update',
    },
    rules: { shape: RULES, about: 'Rules in order. The first match wins.', change: 'update' },
  },
  outputs: {},
  create: async ({ skerry, signal }, inputs) => {
    const body = {
      ...bodyOf<CreateFirewallGroup>(inputs, ['name', 'defaultAction']),
      ...(inputs.rules === undefined ? {} : { rules: inputs.rules as unknown as CreateFirewallRule[] }),
    };
    const made = await skerry.firewallGroups.create(body, { signal });
    return { id: made.id, state: groupValues(made) };
  },
  read: async ({ skerry, signal }, id) => {
    const found = await findOrNull(skerry.firewallGroups.get(id, { signal }));
    return found && groupValues(found);
  },
  update: async ({ skerry, signal }, id, { changed }) => {
    const body = bodyOf<UpdateFirewallGroup>(changed, ['name', 'defaultAction']);
    if (Object.keys(body).length > 0) await skerry.firewallGroups.update(id, body, { signal });
    if (changed.rules === undefined) return;
    const rules = changed.rules as unknown as CreateFirewallRule[];
    await skerry.firewallRules.replace(id, { rules }, { signal });
  },
  delete: async ({ skerry, signal }, id) => {
    await findOrNull(skerry.firewallGroups.delete(id, { signal }));
  },
};

/** Rules without their IDs, and without members that are null. */
function groupValues({ name, default_action: defaultAction, rules }: FirewallGroup): Values {
  return {
    name,
    defaultAction,
    rules: rules.map((rule) =>
      Object.fromEntries(
        RULE_FIELDS.filter((field) => rule[field] !== null).map((field) => [field, rule[field]]),
      ),
    ),
  };
}
