/** Every operation of the REST surface by id, in SPEC's order. Maintenance windows and policies use them. */
export const OPERATIONS = [
  'servers.list',
  'servers.create',
  'servers.get',
  'servers.update',
  'servers.delete',
  'servers.reboot',
  'servers.rebuild',
  'servers.rescue',
  'servers.stop',
  'servers.start',
  'servers.resize',
  'servers.console',
  'servers.metrics',
  'servers.set_rdns',
  'images.list',
  'images.get',
  'images.create',
  'images.delete',
  'plans.list',
  'plans.get',
  'regions.list',
  'regions.get',
  'ssh_keys.list',
  'ssh_keys.create',
  'ssh_keys.get',
  'ssh_keys.delete',
  'account.get',
  'limits.list',
  'tokens.list',
  'tokens.create',
  'tokens.delete',
  'balance.get',
  'ledger.list',
  'topups.create',
  'topups.get',
  'topups.list',
  'quotes.create',
  'volumes.list',
  'volumes.create',
  'volumes.get',
  'volumes.update',
  'volumes.delete',
  'volumes.attach',
  'volumes.detach',
  'snapshots.list',
  'snapshots.create',
  'snapshots.get',
  'snapshots.update',
  'servers.restore',
  'backup_policies.get',
  'backup_policies.replace',
  'snapshots.delete',
  'firewall_groups.list',
  'firewall_groups.create',
  'firewall_groups.get',
  'firewall_groups.update',
  'firewall_groups.delete',
  'firewall_rules.create',
  'firewall_rules.replace',
  'firewall_rules.delete',
  'webhooks.list',
  'webhooks.create',
  'webhooks.get',
  'webhooks.update',
  'webhooks.delete',
  'webhooks.test',
  'deliveries.list',
  'deliveries.replay',
  'alerts.list',
  'alerts.create',
  'alerts.get',
  'alerts.update',
  'alerts.delete',
  'audit_events.list',
  'audit_events.get',
  'actions.list',
  'actions.get',
  'actions.of_server',
  'events.stream',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Operations whose body contains a region, so that a policy can apply to one region. */
export const REGIONAL_OPERATIONS = ['servers.create', 'volumes.create'] as const satisfies Operation[];

export function isOperation(word: string): word is Operation {
  return (OPERATIONS as readonly string[]).includes(word);
}

/**
 * Whether the operation stays open while a restored database is behind its address marks: it changes nothing,
 * or it revokes access.
 */
export function isOpenInRecovery(operation: Operation): boolean {
  if (operation === 'quotes.create' || operation === 'tokens.delete') return true;
  return /\.(?:list|get|metrics|of_server|stream|console)$/.test(operation);
}
