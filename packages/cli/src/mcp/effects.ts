/**
 * How each operation changes the account, and which calls ask first. An operation without a row asks: it is
 * newer than this table.
 */
import type { Arguments, Operation } from './contract.ts';

export interface Effect {
  /** `adds`: nothing that exists is changed. */
  readonly kind: 'reads' | 'adds' | 'changes' | 'destroys';
  /**
   * Completes `This will …` for a call that asks first; it returns null for any other call. Without it, no
   * call asks. `name` is the resource.
   */
  readonly consequence?: (name: string, given: Arguments) => string | null;
}

const READS: Effect = { kind: 'reads' };
const ADDS: Effect = { kind: 'adds' };
const CHANGES: Effect = { kind: 'changes' };
const destroys = (consequence: (name: string) => string): Effect => ({ kind: 'destroys', consequence });
const mayDestroy = (consequence: NonNullable<Effect['consequence']>): Effect => ({
  kind: 'changes',
  consequence,
});

const EFFECTS: Readonly<Record<string, Effect>> = {
  'quotes.create': READS,
  'servers.create': ADDS,
  'servers.start': ADDS,
  'servers.reboot': CHANGES,
  'servers.stop': CHANGES,
  'servers.rescue': CHANGES,
  'servers.set_rdns': CHANGES,
  'servers.update': mayDestroy((name, given) => {
    if (lifts(given)) return `lift the protection of ${name}, so that its data can be deleted`;
    return given.auto_renew === false ? `let ${name} expire, after which its data is deleted` : null;
  }),
  'servers.rebuild': destroys((name) => `erase the disk of ${name} and reinstall it`),
  'servers.restore': destroys((name) => `erase the disk of ${name} and restore the snapshot`),
  'servers.delete': destroys((name) => `delete ${name} and all data on its disk`),
  'servers.resize': CHANGES,
  'servers.insert_iso': CHANGES,
  'servers.eject_iso': mayDestroy((name) => `eject the ISO image of ${name}, even if its system uses it`),
  'images.delete': destroys((name) => `delete ${name}`),
  'ssh_keys.create': ADDS,
  'ssh_keys.delete': destroys((name) => `delete ${name}`),
  'tokens.update': mayDestroy((name, given) =>
    given.limits ? `narrow the limits of ${name} for good` : null,
  ),
  'tokens.delete': destroys((name) => `revoke ${name} immediately`),
  'topups.create': ADDS,
  'volumes.create': ADDS,
  'volumes.attach': ADDS,
  'volumes.detach': CHANGES,
  'volumes.update': mayDestroy((name, given) => (lifts(given) ? `lift the protection of ${name}` : null)),
  'volumes.delete': destroys((name) => `delete ${name} and all data on it`),
  'snapshots.create': ADDS,
  'snapshots.update': mayDestroy((name, given) => {
    if (lifts(given)) return `lift the protection of ${name}`;
    return typeof given.expires_at === 'string' ? `delete ${name} at ${given.expires_at}` : null;
  }),
  'snapshots.delete': destroys((name) => `delete ${name}`),
  'backup_policies.replace': mayDestroy((name, given) => {
    if (given.enabled === false) return `stop the backups of ${name}`;
    const kept = String(given.keep ?? 7);
    return `back up ${name} on a schedule, and delete all but the latest ${kept} backups`;
  }),
  'firewall_groups.create': ADDS,
  'firewall_groups.update': CHANGES,
  'firewall_groups.delete': destroys((name) => `delete ${name} and its rules`),
  'firewall_rules.create': CHANGES,
  'firewall_rules.replace': destroys((name) => `replace all rules of ${name}`),
  'firewall_rules.delete': destroys((name) => `remove a rule of ${name}`),
  'alerts.create': ADDS,
  'alerts.update': CHANGES,
  'alerts.delete': destroys((name) => `delete ${name}`),
  'webhooks.create': ADDS,
  'webhooks.update': CHANGES,
  'webhooks.delete': destroys((name) => `delete ${name}`),
  'webhooks.rotate_secret': ADDS,
  'webhooks.end_rotation': destroys((name) => `discard a signing secret of ${name}`),
  'webhooks.test': ADDS,
  'deliveries.replay': ADDS,
};

export const EFFECT_IDS = Object.keys(EFFECTS);

export function effectOf({ id, method, summary }: Operation): Effect {
  if (Object.hasOwn(EFFECTS, id)) return EFFECTS[id] as Effect;
  return method === 'GET' ? READS : destroys((name) => `call "${summary}" for ${name}`);
}

function lifts({ protection }: Arguments): boolean {
  return Object.values((protection ?? {}) as object).includes(false);
}
