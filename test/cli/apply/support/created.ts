/** New resources of the model, as the service creates them. */
import type { ActualAlert, ActualServer } from '../../../../packages/cli/src/apply/actual.ts';
import type { WantedAlert } from '../../../../packages/cli/src/apply/desired.ts';
import type { Action } from '../../../../packages/cli/src/apply/plan/plan.ts';

export function createServer(
  act: Extract<Action, { do: 'create_server' }>,
  id: string,
  keys: string[],
): ActualServer {
  const { name, plan, region, tags = [], autoRenew = true, protection } = act.server;
  return {
    id,
    name,
    status: 'provisioning',
    suspended_reason: null,
    plan,
    region,
    image: act.image,
    iso: null,
    boot: 'disk',
    disk_gb: 10,
    ipv4: null,
    ipv6: null,
    ssh_keys: keys,
    tags: [...tags],
    labels: { ...act.labels },
    billing_months: act.months,
    auto_renew: autoRenew,
    protection: { delete: false, rebuild: false, ...protection },
    price_usd_cycle: act.priceUsd,
  };
}

export function createAlert(wanted: WantedAlert, id: string, servers: string[] | null): ActualAlert {
  const { name, metric, compare = 'gt', value = null, window = '5m', enabled = true } = wanted;
  const rule = { name, metric, compare: value === null ? null : compare, value, window, enabled };
  return { id, ...rule, servers, label_selector: wanted.labelSelector ?? null };
}
